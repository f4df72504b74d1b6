"""Projects of Google Cloud: an id and its number are one project, by a pure hash, so that none needs a row."""

from app.core.chance import digest

_FIRST, _COUNT = 10**11, 9 * 10**11


def number_of(project: str) -> str:
    """The project's number: twelve digits of which the first is no zero. Digits are a number already."""
    if project.isdecimal() and project.isascii():
        return project
    return str(_FIRST + int.from_bytes(digest(0, project, "project-number", 16)) % _COUNT)
