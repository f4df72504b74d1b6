"""What a budget holds beside its claim, and where its ratio lies."""

from fractions import Fraction

from markupsafe import Markup

from app.console.drawing.bars import HEIGHT, parts

CLAIM_WIDTH, SCALE_WIDTH = 220, 120
_LOWEST, _HIGHEST = Fraction(1, 2), Fraction(3, 2)
"""The ratios at the ends of their scale; what is beyond is drawn there."""
_CLAIM = Markup('<path class="claim" d="M{x} -2V{end}"/></svg>')
_SCALE = Markup(
    '<svg class="drawing scale" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-label="{label}">'
    '<path class="axis" d="M0 {y}H{w}M{middle} 0V{h}"/>{dot}</svg>'
)
_DOT = Markup('<circle class="s-{}" cx="{}" cy="{}" r="4"/>')


def claimed(claim: int, funded: int, unfunded: int, waiting: int, capacity: int) -> Markup:
    """All GPUs of the fleet as a bar: those that a budget has within its claim, has borrowed, runs unfunded, and waits
    for; the claim is a line across."""
    borrowed = max(0, funded - claim)
    values = (
        (funded - borrowed, "accent", "funded within its claim"),
        (borrowed, "busy", "borrowed"),
        (unfunded, "off", "unfunded"),
        (waiting, "wanted", "waited for"),
    )
    whole = max(capacity, sum(value for value, _, _ in values), 1)
    label = (
        f"{funded:,} funded, {unfunded:,} unfunded, {waiting:,} waited for of {capacity:,} GPUs; it claims {claim:,}"
    )
    line = _CLAIM.format(x=claim * CLAIM_WIDTH // whole, end=HEIGHT + 2)
    bar = parts(values, whole, label, CLAIM_WIDTH)
    return bar.removesuffix("</svg>") + line


def scale(ratio: Fraction | None) -> Markup:
    """The ratio from a half to one and a half; at 1 a budget has had its share. Who is furthest left goes first."""
    dot, label = Markup(""), "no share"
    if ratio is not None:
        part = (min(max(ratio, _LOWEST), _HIGHEST) - _LOWEST) / (_HIGHEST - _LOWEST)
        x = 4 + int(part * (SCALE_WIDTH - 8))
        dot = _DOT.format("ok" if ratio < 1 else "warn", x, HEIGHT // 2)
        label = f"a ratio of about {float(ratio):.3f}"
    facts = {"w": SCALE_WIDTH, "h": HEIGHT, "y": HEIGHT // 2, "middle": SCALE_WIDTH // 2}
    return _SCALE.format(**facts, label=label, dot=dot)
