"""A world made of an export (CT-2): types, words, keys and constraints are checked, and all of it or nothing is kept.

Whether such a history could have happened is not checked: who forges one has a world in which some clusters fail.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from app import catalog, clock
from app.core import job_spec
from app.core.budget_tree import NAME, Period, Unit
from app.core.cluster_events import KINDS
from app.core.errors import Invalid
from app.core.job import FINAL, FLEX_START, SPOT, STANDARD
from app.core.job import FINAL as JOB_ENDS
from app.core.node import Node
from app.core.replica import Worker
from app.core.scheduling.history import ChangeKind
from app.core.study_problems import problems
from app.core.times import EPOCH, WorldTime, to_iso
from app.core.tuning import TrialState
from app.core.world import MOST_RATE, PROFILE_NAMES, World
from app.store import copies, imports, sessions, worlds
from app.store.db import Tx
from app.store.imports import ColumnType
from app.usecases.exported import SOURCE, Read, parts
from app.usecases.worlds import LONG_SECONDS, Setting, create, locked

_INTEGERS = {"smallint": 2**15, "integer": 2**31, "bigint": 2**63}
_WORLD = {
    "seed": "bigint",
    "profile": "text",
    "started_at": "timestamp with time zone",
    "rate": "double precision",
    "frozen": "boolean",
    "now": "timestamp with time zone",
}
_ACCOUNT = re.compile("[0-9]{1,63}")  # of AWS twelve digits, of Google a project's number
_BYTES = re.compile(r"\\x(?:[0-9a-f]{2})*")
_DEEPEST = 100


async def load(tx: Tx, name: str, read: Read) -> World:
    """Make a world of that name of what `read` gives. InUse: there is one. Invalid, with the table and the column."""
    await sessions.allow(tx, LONG_SECONDS)
    await create(tx, name, Setting(0, "fast", EPOCH, 1.0, frozen=True))
    known = await imports.columns(tx)
    filled: str | None = None
    for part, content in parts(read):
        if part == "format":
            _check_format(content)
        elif part == "world" and isinstance(content, dict):
            await _set_clock(tx, name, content)
        else:
            _check_order(part, filled, known)
            await _fill(tx, name, part, content, known[part])
            filled = part
    return await locked(tx, name)


def _check_format(found: Any) -> None:
    if type(found) is not int or found < 1:
        raise Invalid(f"The export's format is {found!r:.20}, which is no number from 1. {SOURCE}")
    if found > copies.FORMAT:
        raise Invalid(
            f"The export has format {found}, and this version of windtunnel reads formats up to {copies.FORMAT}: "
            "import it with the version that wrote it, or a newer one."
        )


def _check_order(table: str, before: str | None, known: Mapping[str, object]) -> None:
    if table not in known:
        raise Invalid(f"This version of windtunnel has no table '{table[:80]}'. {SOURCE}")
    if before is not None and table < before:
        raise Invalid(f"Table '{table}' comes behind '{before}'; tables are sorted, and each is there once. {SOURCE}")


async def _fill(tx: Tx, world: str, table: str, rows: list[Any], known: Mapping[str, ColumnType]) -> None:
    if not rows:
        return
    names = sorted(rows[0]) if isinstance(rows[0], dict) else []
    for name in names:
        if name not in known:
            raise Invalid(f"Table '{table}' has no column '{name[:80]}' in this version of windtunnel. {SOURCE}")
    missing = [name for name, its in known.items() if name not in names and not (its.nullable or its.defaulted)]
    if missing:
        raise Invalid(f"A row of table '{table}' lacks {', '.join(missing)}. {SOURCE}")
    for row in rows:
        if not isinstance(row, dict) or sorted(row) != names:
            raise Invalid(f"The rows of table '{table}' have not all the same columns. {SOURCE}")
        for name, value in row.items():
            _check(table, name, value, known[name])
    await imports.insert(tx, world, table, names, rows)


def _check(table: str, column: str, value: Any, its: ColumnType) -> None:
    if value is None:
        if not its.nullable:
            raise Invalid(f"{table}.{column} must have a value. {SOURCE}")
        return
    if not _is_of(its.kind, value):
        raise Invalid(f"{table}.{column} holds {value!r:.80}, which is no {its.kind}. {SOURCE}")
    allowed = _WORDS.get((table, column)) or _WORDS.get(("", column))
    if allowed is not None and not allowed(value):
        raise Invalid(f"{table}.{column} holds {value!r:.80}, which this version of windtunnel does not know. {SOURCE}")


def _is_of(kind: str, value: Any) -> bool:
    """True when the value is what an export has for a column of the type."""
    if kind.endswith("[]"):
        return isinstance(value, list) and all(_is_of(kind[:-2], one) for one in value)
    if kind in _INTEGERS:
        return type(value) is int and -_INTEGERS[kind] <= value < _INTEGERS[kind]
    if kind == "boolean":
        return type(value) is bool
    if kind == "double precision":
        return type(value) in (int, float) and abs(value) < 2**1000
    if kind == "timestamp with time zone":
        return _is_instant(value)
    if kind == "jsonb":
        return _is_storable(value)
    if kind == "bytea":
        return isinstance(value, str) and _BYTES.fullmatch(value) is not None
    return kind == "text" and isinstance(value, str) and _is_storable(value)


def _is_instant(value: Any) -> bool:
    """In the one form that an export has; Postgres takes others too, such as `now` and `infinity`."""
    if not isinstance(value, str):
        return False
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return False
    return moment.tzinfo is UTC and EPOCH <= moment <= clock.LATEST and to_iso(WorldTime(moment)) == value


def _is_storable(value: Any, depth: int = 0) -> bool:
    """Postgres holds neither NUL nor half a surrogate pair, and the driver's JSON no integer beyond 64 bits."""
    if isinstance(value, str):
        return value.isprintable() or _is_text(value)
    if depth == _DEEPEST:
        return False
    if isinstance(value, dict):
        return all(_is_storable(key) and _is_storable(one, depth + 1) for key, one in value.items())
    if isinstance(value, list):
        return all(_is_storable(one, depth + 1) for one in value)
    return type(value) is not int or -(2**63) <= value < 2**63


def _is_text(value: str) -> bool:
    try:
        return b"\0" not in value.encode()
    except UnicodeEncodeError:
        return False


async def _set_clock(tx: Tx, name: str, facts: Mapping[str, Any]) -> None:
    if sorted(facts) != sorted(_WORLD):
        raise Invalid(f"The export's 'world' must have {', '.join(sorted(_WORLD))} and no more. {SOURCE}")
    for fact, kind in _WORLD.items():
        _check("world", fact, facts[fact], ColumnType(kind, nullable=False, defaulted=False))
    start, now = (WorldTime(datetime.fromisoformat(facts[fact])) for fact in ("started_at", "now"))
    if now < start:
        raise Invalid(f"The export's world is at {facts['now']}, before it began. {SOURCE}")
    setting = Setting(facts["seed"], facts["profile"], start, float(facts["rate"]), facts["frozen"])
    await worlds.begin_again(tx, name, now, **setting.facts)


def _is_instance_type(value: str) -> bool:
    if value in catalog.goods():
        return True
    try:
        catalog.instance_type(value)
    except LookupError:
        return False
    return True


def _is_charged_for(value: str) -> bool:
    """An instance type, or a worker's machine and what is attached to it, as `core/gang.py` labels them."""
    return all(_is_instance_type(part.rpartition(" x ")[2]) for part in value.split(" + "))


def _is_group_spec(value: Any) -> bool:
    shape = {"request": dict, "subnets": list, "security_groups": list}
    return isinstance(value, dict) and all(isinstance(value.get(name), kind) for name, kind in shape.items())


def _is_job_spec(value: Any) -> bool:
    """A CustomJobSpec that makes a job."""
    try:
        job_spec.check(value)
        job_spec.scheduling(value)
    except (Invalid, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False
    return all(pool.machine_type in catalog.machine_types() for pool in job_spec.pools(value))


def _are_counts(value: Any) -> bool:
    return isinstance(value, dict) and all(type(count) is int for count in value.values())


def _is_study(value: Any) -> bool:
    """A StudySpec without problems."""
    try:
        return not problems({"studySpec": value, "maxTrialCount": 1, "parallelTrialCount": 1})
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False


def _is_measurement(value: Any) -> bool:
    counts = isinstance(value, dict) and [value.get(name) for name in ("elapsed_ms", "step")]
    if not counts or len(value) != 3 or not _is_object(value.get("metrics")):
        return False
    return all(type(count) is int for count in counts) and all(
        type(number) in (int, float) for number in value["metrics"].values()
    )


def _are_limits(value: Any) -> bool:
    """Limits of a budget."""
    return isinstance(value, list) and all(
        isinstance(one, dict)
        and sorted(one) == ["amount", "period", "unit"]
        and type(one["amount"]) is int
        and one["unit"] in frozenset(Unit)
        and one["period"] in frozenset(Period)
        for one in value
    )


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


_WORDS: Mapping[tuple[str, str], Callable[[Any], bool]] = {
    ("", "account"): lambda value: _ACCOUNT.fullmatch(value) is not None,
    ("", "instance_type"): _is_instance_type,
    ("world", "seed"): lambda value: value >= 0,
    ("world", "profile"): PROFILE_NAMES.__contains__,
    ("world", "rate"): lambda value: 0 < value <= MOST_RATE,
    ("budget_change", "kind"): frozenset(ChangeKind).__contains__,
    ("budget_change", "name"): lambda value: NAME.fullmatch(value) is not None,
    ("budget_change", "limits"): _are_limits,
    ("cluster", "orchestrator"): ("slurm", "eks").__contains__,
    ("cluster", "spec"): _is_object,
    ("cluster", "past_ordinals"): _is_object,
    ("cluster_event", "kind"): KINDS.__contains__,
    ("cluster_event", "params"): _is_object,
    ("instance", "status"): frozenset(Node).__contains__,
    ("instance_group", "instance_types"): lambda value: bool(value) and all(map(_is_instance_type, value)),
    ("instance_group", "spec"): _is_group_spec,
    ("instance_group", "zones"): bool,
    ("ledger", "instance_type"): _is_charged_for,
    ("custom_job", "spec"): _is_job_spec,
    ("custom_job", "strategy"): (STANDARD, SPOT, FLEX_START).__contains__,
    ("custom_job", "outcome"): JOB_ENDS.__contains__,
    **{("custom_job", column): _is_object for column in ("labels", "environment")},
    **{("custom_job", column): _are_counts for column in ("needs", "retries")},
    ("job_replica", "status"): frozenset(Worker).__contains__,
    ("job_replica", "machine_type"): lambda value: value in catalog.machine_types(),
    ("tuning_job", "study_spec"): _is_study,
    ("tuning_job", "trial_job_spec"): lambda value: _is_object(value) and bool(value.get("workerPoolSpecs")),
    ("tuning_job", "labels"): _is_object,
    ("tuning_job", "outcome"): FINAL.__contains__,
    ("trial", "outcome"): frozenset(TrialState).__contains__,
    ("trial", "parameters"): _is_object,
    ("trial", "final"): _is_measurement,
    ("trial", "measurements"): lambda value: isinstance(value, list) and all(map(_is_measurement, value)),
    ("training_pipeline", "request"): _is_object,
    ("training_pipeline", "labels"): _is_object,
    ("storage_bucket", "labels"): _is_object,
    ("storage_object", "attributes"): _is_object,
    **{("storage_upload", column): _is_object for column in ("attributes", "checksums", "conditions")},
}
"""Words that the code looks up, by table and column; without a table for every one that has the column."""
