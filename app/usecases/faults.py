"""Fault rules of a world (CT-3): add, replace, list, remove, and what they have hit."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.core.chaos import chaos, of_chaos
from app.core.effects import LATENCY, check_words, effect_of
from app.core.errors import Invalid, NotFound
from app.core.faults import Rule
from app.core.job_faults import EXIT, RUN_EFFECTS, check_exit_code
from app.core.times import to_iso
from app.core.world import World
from app.store import faults, worlds
from app.store.db import Tx
from app.usecases import hardware, striking, types

WORDS = (
    *("cluster", "group", "instance_type", "node", "attempt", "job", "replica", "operation", "api", "code", "message"),
    "seconds",
)
"""What only some effects take."""
LONGEST_LATENCY_MS = 300_000


async def listed(tx: Tx, world: str) -> list[Rule]:
    """The rules in their order: the first that strikes counts."""
    return await faults.rules(tx, world)


async def add(tx: Tx, world: str, rule: Rule) -> Rule:
    """The rule under its id: `f-1`, `f-2`, … in the order in which a world's rules are made."""
    check(rule)
    known = await _lock(tx, world)
    named = replace(rule, rule_id=f"f-{await faults.last_number(tx, world) + 1}")
    await faults.put(tx, world, named)
    return await _strike_at_once(tx, known, named)


async def begin_chaos(tx: Tx, world: str, seed: int) -> list[Rule]:
    """Chaos of this seed in place of any other, after the rules that are there; as it is if it reigns already."""
    await _lock(tx, world)
    reigning = of_chaos(await faults.rules(tx, world))
    wanted = chaos(seed)
    if len(reigning) == len(wanted) and all(rule.seed == seed for rule in reigning):
        return reigning
    for rule in reigning:
        await faults.remove(tx, world, rule.rule_id)
    return [await add(tx, world, rule) for rule in wanted]


async def replace_all(tx: Tx, world: str, rules: Sequence[Rule]) -> list[Rule]:
    """These rules and no others; each gets a new id and has hit nothing yet."""
    for rule in rules:
        check(rule)
    known = await _lock(tx, world)
    first = await faults.last_number(tx, world) + 1
    await faults.remove(tx, world, None)
    named = [replace(rule, rule_id=f"f-{first + place}") for place, rule in enumerate(rules)]
    for rule in named:
        await faults.put(tx, world, rule)
    return [await _strike_at_once(tx, known, rule) for rule in named]


async def remove(tx: Tx, world: str, rule_id: str | None) -> int:
    """Remove one rule, or all; how many went. Their hits stay."""
    await _lock(tx, world)
    removed = await faults.remove(tx, world, rule_id)
    if rule_id is not None and not removed:
        raise NotFound(f"There is no fault rule '{rule_id[:80]}'. `windtunnel fault list` shows those that are.")
    return removed


async def hits(tx: Tx, world: str, rule_id: str | None, limit: int) -> list[dict[str, Any]]:
    """What was hit, the newest first."""
    rows = await faults.hits(tx, world, rule_id, limit)
    return [
        {("group" if k == "group_name" else k): v for k, v in row.items()} | {"at": to_iso(row["at"])} for row in rows
    ]


def check(rule: Rule) -> None:
    """Invalid if the rule could never do what it says."""
    effect = effect_of(rule.effect)
    given = [word for word in WORDS if getattr(rule, word) is not None]
    if rule.milliseconds is not None:
        given.append("seconds")
    check_words(effect, given, rule.code, rule.operation)
    if rule.milliseconds is not None and not 1 <= rule.milliseconds <= LONGEST_LATENCY_MS:
        raise Invalid(f"'seconds' of {rule.effect} may be from 0.001 to {LONGEST_LATENCY_MS // 1000}.")
    if effect.name == LATENCY and rule.milliseconds is None:
        raise Invalid(f"{LATENCY} needs 'seconds': how much later the answer comes, such as 0.2.")
    if rule.instance_type is not None and not types.is_type(rule.instance_type):
        raise Invalid(types.unknown(rule.instance_type))
    if rule.effect == EXIT:
        check_exit_code(rule.code)
    if effect.kind == "launch" and rule.node is not None and rule.node.startswith("i-"):
        raise Invalid(
            f"{rule.effect} strikes a launch, which has no instance id yet. "
            "Give the node's logical id (NodeLogicalId of ListClusterNodes)."
        )
    if rule.after is not None and rule.before is not None and rule.after >= rule.before:
        raise Invalid("'after' must be earlier than 'before': else the rule never acts.")


async def _strike_at_once(tx: Tx, world: World, rule: Rule) -> Rule:
    """Strike what runs now; what begins to run later meets the rule then. The rule with its counts."""
    if rule.effect in RUN_EFFECTS:
        return await striking.strike_running(tx, world, rule)
    return await hardware.strike_running(tx, world, rule)


async def _lock(tx: Tx, name: str) -> World:
    """The world, in which nothing is struck meanwhile."""
    world = await worlds.lock(tx, name)
    if world is None:
        raise NotFound(f"There is no world '{name}'.")
    return world
