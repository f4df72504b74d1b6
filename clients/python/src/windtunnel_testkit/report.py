"""What is attached to a failed test: how to see it again, what waits, and what has happened."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from windtunnel_testkit import times
from windtunnel_testkit.errors import Refused, Unreachable

if TYPE_CHECKING:
    import pytest

    from windtunnel_testkit.run import Run
    from windtunnel_testkit.world import World

MOST_LINES = 60
"""The newest moments that are shown; `world.timeline()` has all."""


def report(world: World, item: pytest.Item, run: Run) -> str:
    """Lines for the reader of the failure. It never fails itself: a service that is away is a line, too."""
    try:
        return "\n".join(_lines(world, item))
    except (Refused, Unreachable) as error:
        return f"{error}\n{run.service().output()}".strip()
    except Exception as error:  # a newer service may answer otherwise: the test's own failure is what counts
        return f"this cannot be told: {error!r}"


def _lines(world: World, item: pytest.Item) -> Iterator[str]:
    clock = world.clock()
    yield f"now {clock['now']}, began {clock['started_at']}, profile {clock['profile']}, seed {world.seed}"
    began = times.shown(times.read(clock["started_at"]))
    told = {"seed": world.seed, "start": began, "profile": clock["profile"]}
    options = " ".join(f"--windtunnel-{name} {value}" for name, value in told.items())
    yield f"again: pytest {shlex.quote(item.nodeid)} {options}"
    for rule in world.control("GET", "faults")["rules"]:
        yield f"fault {rule['id']} {rule['effect']}: struck {rule['hits']} of {rule['matches']} that matched"
    waits = world.waiting()
    yield "waiting:" if waits else "nothing waits"
    yield from (f"  {one}" for one in waits)
    moments = world.timeline()
    more = f" (the last {MOST_LINES} of {len(moments)})" if len(moments) > MOST_LINES else ""
    yield f"timeline{more}:" if moments else "nothing has happened"
    yield from (f"  {moment}" for moment in moments[-MOST_LINES:])
