"""The simulated program of a worker: how long it runs and how it ends, as the job itself declares it (VX-16).

Environment variables of a pool come before labels of the job, which hold for all pools.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from app.core import job_labels
from app.core.errors import Invalid
from app.core.job_errors import OUT_OF_MEMORY
from app.core.job_labels import CHECKPOINT, RUN_TIME, duration
from app.core.job_spec import Pool

RUN, EXIT_AFTER, EXIT_CODE = "WINDTUNNEL_RUN_SECONDS", "WINDTUNNEL_EXIT_AFTER_SECONDS", "WINDTUNNEL_EXIT_CODE"
CHECKPOINTS, MEMORY = "WINDTUNNEL_CHECKPOINT_SECONDS", "WINDTUNNEL_MEMORY_GB"

MEMORY_FILLS = timedelta(minutes=1)
"""A program that needs more memory than there is dies so long after it began, or at its end if that is sooner
(chosen)."""
LONGEST = timedelta(days=3650)
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,6})?")
_CODE = re.compile(r"[0-9]{1,3}")
MOST_CODE = 255


@dataclass(frozen=True, slots=True)
class Program:
    """`run` is the work to be done in all, of which checkpoints save what is done each `checkpoint`. A run ends with
    `exit_code` when the work is done, or `exit_after` its beginning if that is set. `memory_gb` is what it needs."""

    run: timedelta
    exit_code: int
    exit_after: timedelta | None
    checkpoint: timedelta | None
    memory_gb: float | None
    python: bool


@dataclass(frozen=True, slots=True)
class Fate:
    """A run ends `after` its beginning, with `code`."""

    after: timedelta
    code: int


def program(pool: Pool, labels: Mapping[str, str], environment: Mapping[str, str], default: timedelta) -> Program:
    """What the pool's replicas run. Invalid for a value that cannot be read, with its name."""
    told = _Told({**pool.environment, **environment}, labels)
    exit_after = told.seconds(EXIT_AFTER)
    code = told.code()
    run = told.seconds(RUN, RUN_TIME)
    return Program(
        run=max(default, exit_after or default) if run is None else run,
        exit_code=(0 if exit_after is None else 1) if code is None else code,
        exit_after=exit_after,
        checkpoint=told.seconds(CHECKPOINTS, CHECKPOINT) or None,
        memory_gb=told.number(MEMORY),
        python=pool.python,
    )


def fate(what: Program, saved: timedelta, memory_gb: float | None) -> Fate:
    """How a run ends that resumes with `saved` work done, on a machine that leaves it `memory_gb` (None: enough)."""
    left = max(what.run - saved, timedelta(0))
    if what.memory_gb is not None and memory_gb is not None and what.memory_gb > memory_gb:
        return Fate(min(left, MEMORY_FILLS), OUT_OF_MEMORY[what.python])
    if what.exit_after is not None and what.exit_after <= left:
        return Fate(what.exit_after, what.exit_code)
    return Fate(left, 0 if what.exit_after is not None else what.exit_code)


def saved(what: Program, before: timedelta, ran: timedelta) -> timedelta:
    """The work that the last checkpoint holds when a run that resumed with `before` done ends after `ran`."""
    if what.checkpoint is None:
        return timedelta(0)
    return max(before, (before + ran) // what.checkpoint * what.checkpoint)


@dataclass(frozen=True, slots=True)
class _Told:
    """What the job declares, by the names that it may use."""

    environment: Mapping[str, str]
    labels: Mapping[str, str]

    def seconds(self, variable: str, label: str | None = None) -> timedelta | None:
        """Seconds of a variable; a label has a unit, as `90s`, `30m` or `2h`."""
        number = self.number(variable)
        if number is None and label is not None:
            number = duration(self.labels, label)
        return None if number is None else min(timedelta(milliseconds=round(number * 1000)), LONGEST)

    def number(self, variable: str) -> float | None:
        """A number that is not negative; an empty variable says nothing."""
        text = self.environment.get(variable, "").strip()
        if not text:
            return None
        if not _NUMBER.fullmatch(text):
            raise _unreadable(f"Variable {variable}", text, "a number, such as 90 or 1.5")
        return float(text)

    def code(self) -> int | None:
        """The exit code, of the variable or the label."""
        name, text = f"Variable {EXIT_CODE}", self.environment.get(EXIT_CODE, "").strip()
        if not text:
            name, text = f"Label {job_labels.EXIT_CODE}", self.labels.get(job_labels.EXIT_CODE, "")
        if not text:
            return None
        if not _CODE.fullmatch(text) or int(text) > MOST_CODE:
            raise _unreadable(name, text, f"a whole number from 0 to {MOST_CODE}")
        return int(text)


def _unreadable(name: str, text: str, wanted: str) -> Invalid:
    return Invalid(f"{name} is '{text[:80]}'. It must be {wanted}.")
