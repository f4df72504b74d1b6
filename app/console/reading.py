"""Fields of forms that are more than text and whole numbers."""

from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

from app import clock
from app.console.forms import Form
from app.core.errors import Invalid
from app.core.times import EPOCH, WorldTime, floor_ms

MILLION = 1_000_000


def instant(form: Form, name: str) -> WorldTime | None:
    """An instant as 2026-01-31T12:00:00Z; without an offset it is UTC, as a browser's field gives it."""
    value = form.optional(name)
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise Invalid(f"'{name}' must be an instant such as 2026-01-31T12:00:00Z.") from None
    if not EPOCH <= moment <= clock.LATEST:
        raise Invalid(f"'{name}' must be between {EPOCH:%Y} and {clock.LATEST:%Y}.")
    return floor_ms(WorldTime(moment))


def millionths(form: Form, name: str, most: int) -> int | None:
    """A number of at most six decimals, from 0 to `most` whole ones, in millionths."""
    value = form.optional(name)
    if value is None:
        return None
    try:
        scaled = Decimal(value) * MILLION
    except InvalidOperation:
        raise Invalid(f"'{name}' must be a number such as 0.25, not '{value[:40]}'.") from None
    if not scaled.is_finite() or scaled != scaled.to_integral_value() or not 0 <= scaled <= most * MILLION:
        raise Invalid(f"'{name}' must be from 0 to {most:,}, with at most six decimals.")
    return int(scaled)


def count_or_unlimited(form: Form, name: str, most: int) -> int | None:
    """A whole number; None for an empty field or `unlimited`."""
    return None if form.optional(name) in (None, "unlimited") else form.whole(name, 0, most)
