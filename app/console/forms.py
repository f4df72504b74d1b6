"""A form as a browser posts it, and its fields as the types that they should have; Invalid for all else."""

from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Request

from app.core.errors import Invalid

MOST_FIELDS = 200
LONGEST = 4096


class Form:
    """The fields of a posted form. A field that is empty was not given."""

    def __init__(self, fields: dict[str, str]) -> None:
        self._fields = fields

    def optional(self, name: str, longest: int = 256) -> str | None:
        """The text without blanks around it, or None."""
        value = self._fields.get(name, "").strip()
        if len(value) > longest:
            raise Invalid(f"'{name}' is too long; give {longest} or fewer characters.")
        return value or None

    def text(self, name: str, longest: int = 256) -> str:
        """The text without blanks around it; it must be given."""
        value = self.optional(name, longest)
        if value is None:
            raise Invalid(f"'{name}' is missing; fill it in.")
        return value

    def whole(self, name: str, least: int, most: int, default: int | None = None) -> int:
        """A whole number from `least` to `most`."""
        value = self.optional(name)
        if value is None and default is not None:
            return default
        digits = (value or "").replace("_", "").replace(",", "")
        sign = digits[:1] == "-"
        if not (digits[sign:].isascii() and digits[sign:].isdecimal()) or len(digits) > 20:
            raise Invalid(f"'{name}' must be a whole number, not '{(value or '')[:40]}'.")
        if not least <= int(digits) <= most:
            raise Invalid(f"'{name}' must be from {least:,} to {most:,}.")
        return int(digits)

    def one_of(self, name: str, *words: str) -> str:
        """One of the words."""
        value = self.text(name)
        if value not in words:
            raise Invalid(f"'{name}' must be one of {', '.join(words)}.")
        return value


async def _form(request: Request) -> Form:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await request.body()
    if body and media_type != "application/x-www-form-urlencoded":
        raise Invalid("Send the form as application/x-www-form-urlencoded.")
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise Invalid(f"The form cannot be read: it is not encoded as one, or has over {MOST_FIELDS} fields.") from None
    if any("\0" in name + value for name, value in pairs):
        raise Invalid("No field may hold the character NUL; leave it out.")
    return Form(dict(pairs))


FormOf = Annotated[Form, Depends(_form)]
