"""Pictures of results, by matplotlib (the extra `simulate`), without a display: the same results, the same files."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.errors import Invalid
from app.core.scheduling.policy import SECOND
from app.simulate.cases import Result
from app.simulate.measures import DAY, rolling
from app.simulate.report import by_name, pooled
from app.simulate.waits import CLASSES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which people who see colours differently tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
FREE, UNFUNDED, FUNDED = "#EEEEEE", "#E69F00", "#0072B2"


def draw(results: Sequence[Result], folder: Path, kind: str = "svg") -> list[Path]:
    """Draw all pictures of the results into the folder, as `svg` or `png`. Invalid: matplotlib is not installed."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise Invalid("Plots need matplotlib. Install it with `pip install 'windtunnel[simulate]'`.") from None
    columns = by_name(results)
    pictures: dict[str, Callable[[Figure], None]] = {
        "waits": partial(_waits, columns),
        "delivery": partial(_delivery, columns),
    }
    for name, of_name in columns.items():
        called = name.replace(" ", "-")
        pictures[f"occupancy-{called}"] = partial(_occupancy, of_name[0])
        pictures[f"shares-{called}"] = partial(_shares, of_name[0])
    found: list[Path] = []
    with matplotlib.rc_context({"svg.hashsalt": "windtunnel", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}):
        for name, picture in pictures.items():
            figure = Figure(figsize=(10, 4.5), layout="constrained")
            picture(figure)
            path = folder / f"{name}.{kind}"
            figure.savefig(path, dpi=150, metadata={"Date": None} if kind == "svg" else None)
            found.append(path)
    return found


def _waits(columns: dict[str, list[Result]], figure: "Figure") -> None:
    curves = {name: pooled(results) for name, results in columns.items()}
    kinds = [kind for kind in CLASSES if any(len(waits[kind]) for waits in curves.values())]
    for at, kind in enumerate(kinds):
        axes = figure.add_subplot(1, len(kinds), at + 1)
        for colour, (name, waits) in zip(_colours(len(curves)), curves.items(), strict=True):
            curve = waits[kind].curve()
            seconds = [1.0, *(max(wait / SECOND, 1) for wait, _ in curve)]
            axes.step(seconds, [0.0, *(100 * part for _, part in curve)], where="post", color=colour, label=name)
        axes.set(title=kind, xscale="log", xlabel="wait, s", ylim=(0, 101), ylabel="" if at else "started, %")
    if kinds:
        figure.axes[0].legend(loc="lower right")
    figure.suptitle("Waits of funded work for its first start, by class")


def _delivery(columns: dict[str, list[Result]], figure: "Figure") -> None:
    axes = figure.add_subplot()
    claims = next(iter(columns.values()))[0].picture.hours.claims if columns else {}
    order = sorted(claims, key=lambda leaf: (claims[leaf], leaf))
    rows = {leaf: row for row, leaf in enumerate(order)}
    for colour, (name, results) in zip(_colours(len(columns)), columns.items(), strict=True):
        points = [
            (100 * part, rows[leaf])
            for result in results
            for leaf, part in result.picture.measures.day.leaves.items()
            if leaf in rows
        ]
        axes.scatter([x for x, _ in points], [y for _, y in points], color=colour, label=name, alpha=0.7, s=18)
    axes.axvline(95, color="black", linewidth=0.8, linestyle="--")
    axes.set_yticks(range(len(order)), [f"{leaf} ({100 * float(claims[leaf]):.1f} %)" for leaf in order])
    axes.set(
        xlabel="delivered of what was owed, %, rolling days; a point a seed", title="Delivery by leaf and its claim"
    )
    axes.legend(loc="lower left")


def _occupancy(result: Result, figure: "Figure") -> None:
    axes, hours = figure.add_subplot(), result.picture.hours
    days = [at / DAY for at in range(len(hours.capacity))]
    whole = [capacity or 1 for capacity in hours.capacity]
    funded = [100 * charged / of for charged, of in zip(hours.charged, whole, strict=True)]
    rest = [100 * (held - charged) / of for held, charged, of in zip(hours.held, hours.charged, whole, strict=True)]
    axes.stackplot(days, funded, rest, colors=(FUNDED, UNFUNDED), labels=("funded", "unfunded"), step="post")
    axes.set(xlabel="day", ylabel="of the capacity, %", xlim=(0, len(whole) / DAY), ylim=(0, 101), facecolor=FREE)
    axes.set_title(f"Occupancy under {result.name}, {result.trace}")
    axes.legend(loc="lower left")


def _shares(result: Result, figure: "Figure") -> None:
    from matplotlib import colormaps

    axes, hours, tones = figure.add_subplot(), result.picture.hours, colormaps["tab20"]
    width = min(DAY, max(1, len(hours.capacity) // 4))
    days = [at / DAY for at in range(width, len(hours.capacity) + 1)]
    whole = [of or 1 for of in rolling(hours.capacity, width)]
    areas = [
        [100 * used / of for used, of in zip(rolling(hours.used[leaf], width), whole, strict=True)]
        for leaf in hours.claims
    ]
    axes.stackplot(
        days,
        *areas,
        colors=[tones(at % 20) for at in range(len(areas))],
        labels=list(hours.claims),
        edgecolor="white",
        linewidth=0.3,
    )
    _mark_claims(axes, [float(claim) for claim in hours.claims.values()])
    axes.set(xlabel="day", ylabel=f"of the capacity, %, over the last {width} h", ylim=(0, 101))
    axes.set_title(f"Funded use by leaf under {result.name}, {result.trace}; on the right the claims")
    figure.legend(loc="outside right upper", fontsize=7, reverse=True)


def _mark_claims(axes: "Axes", claims: Sequence[float]) -> None:
    reached = 0.0
    for claim in claims:
        reached += 100 * claim
        axes.axhline(reached, xmin=0.985, color="black", linewidth=1.2)


def _colours(count: int) -> list[str]:
    return [COLOURS[at % len(COLOURS)] for at in range(count)]
