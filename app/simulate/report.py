"""Results as rows: one column a policy, seeds taken together."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from app.core.scheduling.policy import DAY, HOUR, SECOND
from app.simulate.cases import Result
from app.simulate.measures import Measures
from app.simulate.records import Cause
from app.simulate.waits import CLASSES, Waits

Value = str | int | float | None
Row = dict[str, Value]


def by_name(results: Iterable[Result]) -> dict[str, list[Result]]:
    """The results of each column, seed by seed."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.name, []).append(result)
    return found


def summary(results: Sequence[Result]) -> Row:
    """One column: parts of one are means over seeds unless the name says otherwise, waits are of all seeds pooled."""
    measures = [result.picture.measures for result in results]
    days = [measure.day for measure in measures]
    found: Row = {
        "seeds": len(results),
        "delivered": _mean(day.total for day in days),
        "delivered_least_seed": _least(day.total for day in days),
        "leaves_at_least_95": _mean(day.at_least_95 for day in days),
        "leaves": _mean(len(day.leaves) for day in days),
        "worst_leaf": _least(day.worst for day in days),
        "jain": _mean(day.jain for day in days),
        "delivered_hourly": _mean(measure.hour.total for measure in measures),
        "delivered_whole": _mean(measure.whole.total for measure in measures),
        "occupancy": _mean(measure.occupancy for measure in measures),
        "unfunded": _mean(measure.unfunded for measure in measures),
        "bound": _mean(result.bound.day.total for result in results),
        "bound_occupancy": _mean(result.bound.occupancy for result in results),
        "bound_unfunded": _mean(result.bound.unfunded for result in results),
    }
    return found | _waits(pooled(results)) | _stops(results, measures)


def pooled(results: Sequence[Result]) -> dict[str, Waits]:
    """The waits of all seeds together, by class."""
    found = {name: Waits() for name in CLASSES}
    for result in results:
        for name, waits in result.picture.waits.items():
            found[name].add(waits)
    return found


def per_seed(result: Result) -> Row:
    """One run by itself."""
    return {"policy": result.name, "trace": result.trace, **summary([result])}


def leaves(result: Result) -> list[Row]:
    """Each leaf of one run: GPU-hours owed and used, and the part that was delivered."""
    hours, day = result.picture.hours, result.picture.measures.day
    owed = hours.owed
    return [
        {
            "policy": result.name,
            "trace": result.trace,
            "leaf": leaf,
            "claim": round(float(claim), 6),
            "owed_gpu_hours": _hours(sum(owed[leaf])),
            "used_gpu_hours": _hours(sum(hours.used[leaf])),
            "demand_gpu_hours": _hours(sum(hours.demand[leaf])),
            "delivered": _part(day.leaves.get(leaf)),
        }
        for leaf, claim in hours.claims.items()
    ]


def by_hour(result: Result) -> list[Row]:
    """Each measured hour of one run, in GPU-hours."""
    hours = result.picture.hours
    return [
        {
            "policy": result.name,
            "trace": result.trace,
            "hour": at,
            "capacity": _hours(capacity),
            "held": _hours(held),
            "funded": _hours(charged),
        }
        for at, (capacity, held, charged) in enumerate(zip(hours.capacity, hours.held, hours.charged, strict=True))
    ]


def wait_curves(name: str, results: Sequence[Result]) -> list[Row]:
    """The part that had started by each wait, by class, seeds pooled."""
    return [
        {"policy": name, "class": kind, "wait_s": wait / SECOND, "started": round(part, 6)}
        for kind, waits in pooled(results).items()
        for wait, part in waits.curve()
    ]


def _waits(waits: Mapping[str, Waits]) -> Row:
    found: Row = {}
    for kind in CLASSES:
        name = kind.replace(" ", "_")
        found[f"{name}_p50_s"] = _seconds(waits[kind].quantile(0.5))
        found[f"{name}_p90_s"] = _seconds(waits[kind].quantile(0.9))
        found[f"{name}_jobs"] = len(waits[kind])
        found[f"{name}_never_started"] = len(waits[kind].censored)
    return found


def _stops(results: Sequence[Result], measures: Sequence[Measures]) -> Row:
    days = sum(result.ends - result.begins for result in results) / DAY
    found: Row = {}
    for cause, name in ((Cause.EVICTED, "evictions"), (Cause.MOVED, "moves"), (Cause.NODE, "lost_node_stops")):
        for prefix, kind in (("", "stops"), ("unfunded_", "unfunded_stops")):
            stops = [getattr(measure, kind)[cause] for measure in measures]
            found[f"{prefix}{name}_per_day"] = round(sum(stop.count for stop in stops) / days, 2)
            lost = sum(stop.lost for stop in stops) / HOUR
            found[f"{prefix}{name}_lost_gpu_hours_per_day"] = round(lost / days, 2)
    found["repairs"] = sum(measure.repairs for measure in measures)
    found["repairs_needing_a_person"] = sum(measure.persons for measure in measures)
    found["submitted"] = sum(measure.submitted for measure in measures)
    found["done"] = sum(measure.done for measure in measures)
    return found


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return _part(fmean(known)) if known else None


def _least(values: Iterable[float | None]) -> float | None:
    return _part(min((value for value in values if value is not None), default=None))


def _part(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _hours(work: int) -> float:
    return round(work / HOUR, 3)


def _seconds(wait: int | None) -> float | None:
    return None if wait is None else wait / SECOND
