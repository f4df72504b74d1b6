"""Fault rules and their hits."""

from collections.abc import Iterable, Sequence

import asyncpg

from app.core.effects import REQUEST_EFFECTS, WORLD_EFFECTS
from app.core.faults import Hit, Rule
from app.store.db import Tx
from app.store.rows import Shape, dollars, insert_rows, update_rows

SHAPE = Shape(Rule)
HIT = (
    "rule_id",
    "number",
    "effect",
    "at",
    "account",
    "region",
    "cluster",
    "group_name",
    "logical_id",
    "attempt",
    "operation",
)
_ORDER = "ORDER BY length(rule_id), rule_id"


async def lock_rules(tx: Tx, world: str) -> list[Rule]:
    """The rules that strike the world, in their order, locked: their counts may change in this transaction."""
    return await _lock(tx, world, WORLD_EFFECTS)


async def lock_request_rules(tx: Tx, world: str) -> list[Rule]:
    """The same of those that strike requests, which so never wait for a pass over a cluster."""
    return await _lock(tx, world, REQUEST_EFFECTS)


async def _lock(tx: Tx, world: str, effects: Sequence[str]) -> list[Rule]:
    rows = await tx.fetch(
        f"SELECT {SHAPE.select} FROM fault_rule WHERE world = $1 AND effect = ANY($2) {_ORDER} FOR UPDATE",
        world,
        effects,
    )
    return [Rule(*row) for row in rows]


async def rules(tx: Tx, world: str) -> list[Rule]:
    """All rules, in their order."""
    rows = await tx.fetch(f"SELECT {SHAPE.select} FROM fault_rule WHERE world = $1 {_ORDER}", world)
    return [Rule(*row) for row in rows]


async def request_rules(tx: Tx, world: str) -> list[Rule]:
    """The rules that strike requests, in their order."""
    rows = await tx.fetch(
        f"SELECT {SHAPE.select} FROM fault_rule WHERE world = $1 AND effect = ANY($2) {_ORDER}",
        world,
        REQUEST_EFFECTS,
    )
    return [Rule(*row) for row in rows]


async def last_number(tx: Tx, world: str) -> int:
    """The highest n of the ids `f-n` that rules have or that hits remember; 0 for none."""
    number: int = await tx.fetchval(
        """SELECT coalesce(max(substr(rule_id, 3)::int), 0) FROM (
            SELECT rule_id FROM fault_rule WHERE world = $1 UNION SELECT rule_id FROM fault_hit WHERE world = $1) AS ids
        WHERE rule_id ~ '^f-[0-9]{1,9}$'""",
        world,
    )
    return number


async def put(tx: Tx, world: str, rule: Rule) -> None:
    """Add the rule, or replace the one with its id."""
    await tx.execute("DELETE FROM fault_rule WHERE world = $1 AND rule_id = $2", world, rule.rule_id)
    await tx.execute(
        f"INSERT INTO fault_rule (world, {SHAPE.select}) VALUES ($1, {dollars(2, len(SHAPE.columns))})",
        world,
        *SHAPE.values(rule),
    )


async def remove(tx: Tx, world: str, rule_id: str | None) -> int:
    """Remove one rule, or all; how many went."""
    done = await tx.execute(
        "DELETE FROM fault_rule WHERE world = $1 AND ($2::text IS NULL OR rule_id = $2)", world, rule_id
    )
    return int(done.rpartition(" ")[2])


async def record(tx: Tx, world: str, counted: Iterable[Rule], hits: Iterable[Hit], before: dict[str, int]) -> None:
    """Write the rules' new counts and one row for each hit; `before` gives each rule's hits before this batch."""
    await update_rows(
        tx,
        "fault_rule",
        ("world", "rule_id"),
        ("matches", "hits"),
        [(world, rule.rule_id, rule.matches, rule.hits) for rule in counted],
    )
    numbers = dict(before)
    records = []
    for hit in hits:
        numbers[hit.rule_id] += 1
        who = hit.subject
        records.append(
            (
                world,
                hit.rule_id,
                numbers[hit.rule_id],
                hit.effect,
                hit.at,
                who.account,
                who.region,
                who.cluster,
                who.group,
                who.logical_id,
                who.attempt,
                who.operation,
            )
        )
    await insert_rows(tx, "fault_hit", ("world", *HIT), records)


async def hits(tx: Tx, world: str, rule_id: str | None, limit: int) -> list[asyncpg.Record]:
    """The newest hits, newest first."""
    return await tx.fetch(
        f"""SELECT {", ".join(HIT)} FROM fault_hit
        WHERE world = $1 AND ($2::text IS NULL OR rule_id = $2) ORDER BY at DESC, rule_id, number DESC LIMIT $3""",
        world,
        rule_id,
        limit,
    )
