"""What can go wrong, in the domain's words. The wires give each its vendor code; nothing here knows HTTP."""


class DomainError(Exception):
    """A refusal whose text says why and what to do.

    `about` names what it is about, its kind first (`("cluster", "demo")`), for a dialect with words of its own.
    """

    def __init__(self, message: str, about: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.about = about


class Invalid(DomainError):
    """The request contradicts itself or what exists."""


class NotFound(DomainError):
    """No such thing in this account and region."""


class InUse(DomainError):
    """The name is taken."""


class Conflict(DomainError):
    """The thing is in a state that does not allow this now."""


class FailedPrecondition(DomainError):
    """The state of the thing forbids the request until something else has happened."""


class LimitExceeded(DomainError):
    """A quota would be passed."""
