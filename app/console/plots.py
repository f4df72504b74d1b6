"""What scripts plot, as JSON in the page; without a script the same figures stand in a table."""

import json
from collections.abc import Sequence

from app.core.budget_limits import DAY_MS, HOUR_MS, begins
from app.core.budget_tree import Unit
from app.core.scheduling.policy import DAY
from app.usecases.budget_reports import Standing

_AHEAD = 7 * DAY
"""How far a limit without a period is forecast when nothing says how far (chosen)."""


def burn_down(one: Standing, now: int) -> str:
    """Times in seconds, and for each what was charged by then, what is forecast if all goes on that runs, and the
    limit; in GPU-hours or dollars."""
    unit = HOUR_MS if one.limit.unit is Unit.GPU_HOURS else 1_000_000
    allowed = one.limit.amount * (HOUR_MS if one.limit.unit is Unit.GPU_HOURS else 1)
    charged: dict[int, int] = {min(day + DAY_MS, now): spent for day, spent in spent_from(one)}
    charged[now] = one.charged
    first = one.course[0][0] if one.course else now
    if first == begins(one.limit.period, now) and first < now:
        charged[first] = 0
    forecast = {now: one.charged}
    for at in {one.met_at or now, _end(one, min(charged), now)} - {now}:
        forecast[at] = one.charged + one.per_hour * (at - now) // HOUR_MS
    times = sorted({*charged, *forecast})
    plot = {
        "unit": "GPU-hours" if one.limit.unit is Unit.GPU_HOURS else "US dollars",
        "times": [at // 1000 for at in times],
        "charged": [_in(charged.get(at), unit) for at in times],
        "forecast": [_in(forecast.get(at), unit) for at in times],
        "limit": [_in(allowed, unit) for _ in times],
    }
    return json.dumps(plot, separators=(",", ":"))


def _end(one: Standing, begins: int, now: int) -> int:
    """How far is forecast: somewhat beyond where the limit is met, else until the period ends."""
    usual = one.ends_at or now + _AHEAD
    if one.met_at is None or one.met_at <= now:
        return usual
    beyond = one.met_at + max(one.met_at - begins, 4 * HOUR_MS) // 4
    return beyond if one.ends_at is None else min(beyond, one.ends_at)


def spent_from(one: Standing) -> Sequence[tuple[int, int]]:
    """The course from the day before the first on which anything was charged."""
    first = next((place for place, (_, spent) in enumerate(one.course) if spent), len(one.course) - 1)
    return one.course[max(0, first - 1) :]


def _in(value: int | None, unit: int) -> float | None:
    return None if value is None else round(value / unit, 3)
