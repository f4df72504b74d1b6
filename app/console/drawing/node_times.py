"""The chart of nodes over time: a row a node, a bar a workload, drawn as SVG without style or script (FS-9, FS-13).

Colours are classes (`c0` … `c11` by budget, `none` for work without one), so that the page's style sheet has them in
light and dark. A gang is one path over all its nodes, so that a chart of hundreds of nodes stays small.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from app.core.occupancy import Kept, Occupancy, Row, Stay
from app.core.scheduling.policy import HOUR, MINUTE
from app.core.times import from_millis

WIDTH, LEFT, TOP, BOTTOM = 1180, 104, 34, 6
COLOURS = 12
_STEPS = tuple(minutes * MINUTE for minutes in (1, 5, 15, 30, 60, 180, 360, 720, 1440, 2880, 10080, 40320))
_MOST_TICKS = 12
_LETTER = 6.3
"""The width of a letter of a label, about."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a row: from `x` to `right`, from `y` to `bottom`."""

    x: float
    y: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Scale:
    """Where times and nodes are in the drawing."""

    since: int
    until: int
    row: int
    places: Mapping[str, int]

    def x(self, at: int) -> float:
        inner = min(max(at, self.since), self.until) - self.since
        return LEFT + (WIDTH - LEFT) * inner / (self.until - self.since)

    def y(self, node: str) -> int:
        return TOP + self.row * self.places[node]

    @property
    def height(self) -> int:
        return TOP + self.row * len(self.places) + BOTTOM


def row_height(nodes: int) -> int:
    """So that up to 128 nodes are legible on a page, and a few are no posters."""
    return 26 if nodes <= 16 else 18 if nodes <= 32 else 12 if nodes <= 64 else 8


def lanes(stays: Sequence[Stay], gpus: int, now: int) -> list[int]:
    """From which GPU of its node each stay is drawn, the stays in the order in which they begin: the lowest ones that
    lie together and are free, else the lowest of all."""
    found: list[int] = []
    taken: list[tuple[int, int, int]] = []  # until, first, behind the last
    for stay in stays:
        taken = [one for one in taken if one[0] > stay.since]
        first = next(
            (
                place
                for place in range(gpus - stay.gpus + 1)
                if all(place + stay.gpus <= low or high <= place for _, low, high in taken)
            ),
            0,
        )
        until = max(now, stay.since + 1) if stay.until is None else stay.until
        taken.append((until, first, first + stay.gpus))
        found.append(first)
    return found


def draw(chart: Occupancy, colours: Mapping[str | None, str], link: Callable[[str], str]) -> str:
    """The whole drawing. `colours` are classes by budget, `link` is the address of a workload's page."""
    scale = Scale(chart.since, chart.until, row_height(len(chart.rows)), _places(chart.rows))
    parts = [
        f'<svg class="node-times" viewBox="0 0 {WIDTH} {scale.height}" role="img" '
        f'aria-label="{len(chart.rows)} nodes over time">',
        _DEFINITIONS,
        *_rows(chart, scale),
        *_ticks(scale),
        *(_kept(one, scale) for one in chart.kept),
        *_runs(chart, scale, colours, link),
        *(_due(one, scale) for one in chart.kept),
        _now(chart, scale),
        "</svg>",
    ]
    return "".join(parts)


_DEFINITIONS = (
    '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect class="hatch" width="2" height="6"/></pattern>'
    '<pattern id="hatch-ahead" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect class="hatch-ahead" width="1.2" height="6"/></pattern>'
    '<pattern id="kept" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">'
    '<rect class="kept-line" width="1.5" height="8"/></pattern></defs>'
)


def _places(rows: Sequence[Row]) -> dict[str, int]:
    return {row.node: place for place, row in enumerate(rows)}


def _rows(chart: Occupancy, scale: Scale) -> Iterable[str]:
    group, inner = None, scale.row - 1
    for place, row in enumerate(chart.rows):
        y, state = scale.y(row.node), row.state or "gone"
        told = f"{row.group} {row.node}: {state}, {row.gpus} GPUs"
        yield (
            f'<rect class="lane {escape(state)}" x="{LEFT}" y="{y}" width="{WIDTH - LEFT}" height="{inner}">'
            f"<title>{escape(told)}</title></rect>"
        )
        if row.group != group or scale.row >= 12:
            is_first = row.group != group
            text = row.group[:14] if is_first else f"…{row.node[-6:]}"
            kind = "group" if is_first else "node"
            yield f'<text class="{kind}" x="0" y="{y + min(inner, 12)}">{escape(text)}</text>'
        if row.group != group and place:
            yield f'<path class="border" d="M0 {y - 0.5}H{WIDTH}"/>'
        group = row.group


def _ticks(scale: Scale) -> Iterable[str]:
    span = scale.until - scale.since
    step = next((one for one in _STEPS if span <= one * _MOST_TICKS), _STEPS[-1])
    at = -(-scale.since // step) * step
    day = None
    while at <= scale.until:
        moment, x = from_millis(at), scale.x(at)
        text = f"{moment:%H:%M}" if step < 24 * HOUR else f"{moment:%d %b}"
        yield f'<path class="tick" d="M{x:.1f} {TOP - 4}V{scale.height - BOTTOM}"/>'
        yield f'<text class="tick-label" x="{_inside(x)}" y="{TOP - 8}">{text}</text>'
        if moment.date() != day and step < 24 * HOUR:
            yield f'<text class="day-label" x="{_inside(x)}" y="11">{moment:%a %d %b %Y}</text>'
        day = moment.date()
        at += step


def _inside(x: float) -> str:
    return f"{min(x, WIDTH - 34):.1f}"


def _runs(
    chart: Occupancy, scale: Scale, colours: Mapping[str | None, str], link: Callable[[str], str]
) -> Iterable[str]:
    """All stays of a workload that begin and end together are one path."""
    together: dict[tuple[str, int, int | None], list[tuple[Stay, Bar]]] = {}
    for stay, bar in _bars(chart, scale):
        together.setdefault((stay.workload, stay.since, stay.until), []).append((stay, bar))
    for run in together.values():
        yield _run([stay for stay, _ in run], [bar for _, bar in run], chart, scale, colours, link)


def _bars(chart: Occupancy, scale: Scale) -> Iterable[tuple[Stay, Bar]]:
    by_node: dict[str, list[Stay]] = {}
    for stay in chart.stays:
        by_node.setdefault(stay.node, []).append(stay)
    for row in chart.rows:
        stays = by_node.get(row.node, [])
        inner, y = scale.row - 1, scale.y(row.node)
        for stay, first in zip(stays, lanes(stays, row.gpus, chart.now), strict=True):
            ends = chart.now if stay.until is None else stay.until
            if max(ends, (stay.until is None and stay.protected_until) or 0) <= chart.since:
                continue  # it is now, and the window is yet to come
            x, right = scale.x(stay.since), scale.x(ends)
            low, high = (y + inner * gpu / max(row.gpus, 1) for gpu in (first, first + stay.gpus))
            yield stay, Bar(x, low, right if ends <= chart.since else max(right, x + 1), min(high, y + inner))


def _run(
    stays: Sequence[Stay],
    bars: Sequence[Bar],
    chart: Occupancy,
    scale: Scale,
    colours: Mapping[str | None, str],
    link: Callable[[str], str],
) -> str:
    stay, parts = stays[0], []
    kind = colours.get(stay.budget, "none") if stay.funded else f"{colours.get(stay.budget, 'none')} unfunded"
    parts.append(f'<path class="bar {kind}" d="{_path(bars)}"/>')
    if stay.protected_until is not None:
        right = scale.x(stay.protected_until if stay.until is None else min(stay.until, stay.protected_until))
        past = [Bar(one.x, one.y, min(right, one.right), one.bottom) for one in bars]
        parts.append(f'<path class="protected" d="{_path(past)}"/>')
        if right > bars[0].right:
            shape = _path([Bar(one.right, one.y, right, one.bottom) for one in bars])
            parts.append(f'<path class="ahead {kind}" d="{shape}"/><path class="protected to-come" d="{shape}"/>')
    if stay.evicted:
        ends = "".join(f"M{one.right:.1f} {one.y:.1f}V{one.bottom:.1f}" for one in bars)
        parts.append(f'<path class="evicted" d="{ends}"/>')
    parts.append(_label(stay.shown, bars, scale.row))
    title = escape(_told(stay, sum(one.gpus for one in stays), len(stays)))
    return f'<a href="{escape(link(stay.workload))}"><g><title>{title}</title>{"".join(parts)}</g></a>'


def _told(stay: Stay, gpus: int, nodes: int) -> str:
    lines = [
        f"{stay.shown} · {stay.budget or 'no budget'}{'' if stay.funded else ', unfunded'}",
        f"{gpus} GPUs on {nodes} node{'s' if nodes > 1 else ''}",
        f"{moment(stay.since)} to {'now' if stay.until is None else moment(stay.until)}",
    ]
    if stay.protected_until is not None:
        lines.append(f"protected until {moment(stay.protected_until)}")
    if stay.evicted:
        lines.append("evicted")
    return "\n".join(lines)


def moment(at: int) -> str:
    """`2026-01-31 12:00:00`."""
    return f"{from_millis(at):%Y-%m-%d %H:%M:%S}"


def _path(bars: Iterable[Bar]) -> str:
    return "".join(f"M{one.x:.1f} {one.y:.1f}H{one.right:.1f}V{one.bottom:.1f}H{one.x:.1f}Z" for one in bars)


def _label(text: str, bars: Sequence[Bar], row: int) -> str:
    """The name, in the largest block of bars that lie together, if it has room: in its first row, if one has."""
    block = _largest(bars)
    width, height = block.right - block.x - 8, block.bottom - block.y
    letters = int(width / _LETTER)
    if height < 9 or letters < 3:
        return ""
    shown = text if len(text) <= letters else text[: letters - 1] + "…"
    y = block.y + (min(height, row - 1) if row >= 12 else height) / 2 + 3.5
    return f'<text class="name" x="{block.x + 4:.1f}" y="{y:.1f}">{escape(shown)}</text>'


def _largest(bars: Sequence[Bar]) -> Bar:
    blocks = [bars[0]]
    for one in bars[1:]:
        last = blocks[-1]
        if one.y - last.bottom <= 1.5:
            blocks[-1] = Bar(last.x, last.y, last.right, one.bottom)
        else:
            blocks.append(one)
    return max(blocks, key=lambda one: one.bottom - one.y)


def _kept(one: Kept, scale: Scale) -> str:
    bars = _kept_bars(one, scale)
    if not bars:
        return ""
    title = escape(f"reserved for {one.workload}, T is {moment(one.due)}")
    return f'<path class="kept" d="{_path(bars)}"><title>{title}</title></path>'


def _kept_bars(one: Kept, scale: Scale) -> list[Bar]:
    x, right = scale.x(one.since), scale.x(max(one.due, one.since) if one.until is None else one.until)
    places = sorted(scale.places[host] for host in one.hosts if host in scale.places)
    tops = [TOP + scale.row * place for place in places]
    return [Bar(x, y, max(right, x + 2), y + scale.row - 1) for y in tops]


def _due(one: Kept, scale: Scale) -> str:
    """Of a reservation that holds, its edge and T; one that has ended is but hatched where nothing runs."""
    bars = _kept_bars(one, scale)
    if not bars or one.until is not None:
        return ""
    return f'<path class="kept-edge" d="{_path(bars)}"/>{_at_t(one, bars, scale)}'


def _at_t(one: Kept, bars: Sequence[Bar], scale: Scale) -> str:
    if not scale.since <= one.due <= scale.until:
        return ""
    x = scale.x(one.due)
    lines = "".join(f"M{x:.1f} {bar.y:.1f}V{bar.bottom + 1:.1f}" for bar in bars)
    return f'<path class="due" d="{lines}"/><text class="due-label" x="{x + 3:.1f}" y="{bars[0].y + 10:.1f}">T</text>'


def _now(chart: Occupancy, scale: Scale) -> str:
    if not chart.since <= chart.now <= chart.until:
        return ""
    x = scale.x(chart.now)
    return (
        f'<path class="now" d="M{x:.1f} {TOP - 4}V{scale.height - BOTTOM}"/>'
        f'<text class="now-label" x="{_inside(x + 3)}" y="11">now</text>'
    )
