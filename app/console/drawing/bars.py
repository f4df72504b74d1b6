"""Bars that compare what is with what is wanted."""

from collections.abc import Sequence

from markupsafe import Markup

WIDTH, HEIGHT = 240, 10
_PART = Markup('<rect class="s-{}" x="{}" width="{}" height="{}"><title>{}</title></rect>')


def parts(values: Sequence[tuple[int, str, str]], whole: int, label: str, width: int = WIDTH) -> Markup:
    """A bar of `whole`, cut into (value, kind, name); what is left is shown as missing."""
    total = max(whole, sum(value for value, _, _ in values), 1)
    drawn, x = [], 0
    for value, kind, name in values:
        end = x + value
        left, right = x * width // total, end * width // total
        if value:
            shown = max(2, right - left)
            drawn.append(_PART.format(kind, left, shown, HEIGHT, f"{name}: {value:,}"))
        x = end
    return Markup(
        '<svg class="drawing bar-of" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-label="{label}">'
        '<rect class="s-track" width="{w}" height="{h}"/>{drawn}</svg>'
    ).format(w=width, h=HEIGHT, label=label, drawn=Markup("").join(drawn))
