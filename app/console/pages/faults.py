"""Fault rules: what may go wrong, what does, and whom it struck (CT-3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from app.console.deeds import Deed, command_line, httpx_lines
from app.console.fault_form import Field, body_of, fields_of, rule_of, words_of
from app.console.forms import FormOf
from app.console.page import Page, PageOf
from app.core.chaos import of_chaos
from app.core.effects import EFFECTS, Effect
from app.core.faults import Rule
from app.store.db import Tx
from app.usecases import fault_aims, faults
from app.usecases.fault_aims import Apis

router = APIRouter()
MOST_HITS = 100
MOST_SEED = 2**63 - 1
KINDS: Mapping[str, str] = {
    "launch": "Launches of nodes",
    "node": "Nodes that run",
    "job": "Jobs and their workers",
    "work": "What a request has begun",
    "request": "Requests",
}


@dataclass(frozen=True, slots=True)
class View:
    """The rules that there are, what they struck, every effect by its kind, and the one that a rule is made of."""

    rules: list[Rule]
    chaos: int | None
    """The seed of the chaos that reigns."""
    hits: list[dict[str, Any]]
    effects: list[tuple[str, list[Effect]]]
    chosen: Effect | None
    fields: list[Field]
    when: list[Field]
    suggestions: Mapping[str, list[str]]


def view(rules: list[Rule], hits: list[dict[str, Any]], effect: str, apis: Apis) -> View:
    """`effect` is the name of the one to make a rule of; empty or unknown: none."""
    chosen = EFFECTS.get(effect)
    own, when = fields_of(chosen) if chosen else ([], [])
    reigning = of_chaos(rules)
    grouped = groupby(EFFECTS.values(), key=lambda one: one.kind)
    return View(
        rules=rules,
        chaos=reigning[0].seed if reigning else None,
        hits=hits,
        effects=[(KINDS[kind], list(of_kind)) for kind, of_kind in grouped],
        chosen=chosen,
        fields=own,
        when=when,
        suggestions=_suggestions(chosen, apis) if chosen else {},
    )


def _suggestions(effect: Effect, apis: Apis) -> dict[str, list[str]]:
    """What may stand in a field, where the effect or the service says so."""
    every = sorted({name for names in apis.operations.values() for name in names})
    found = {"code": list(effect.codes), "operation": list(effect.operations) or every, "api": list(apis.operations)}
    return {name: values for name, values in found.items() if values and name in effect.takes}


@router.get("/faults")
async def show(page: PageOf) -> Response:
    """The rules, the effects, and the hits."""
    rules, hits = await page.db.run(_read, page.world, page.given.get("rule"))
    return await page.answer(
        "faults.html", view(rules, hits, page.given.get("effect", ""), _apis(page)), title="Faults"
    )


async def _read(tx: Tx, world: str, rule_id: str | None) -> tuple[list[Rule], list[dict[str, Any]]]:
    return await faults.listed(tx, world), await faults.hits(tx, world, rule_id, MOST_HITS)


@router.post("/do/fault/add")
async def add(page: PageOf, form: FormOf) -> Response:
    """Add the rule of the form."""
    rule = rule_of(form)
    fault_aims.check(rule, _apis(page))
    deed = Deed(
        f"Add a fault: {rule.effect}",
        command_line(page.world, "fault", "add", *words_of(rule)),
        httpx_lines(page.endpoint, "POST", "faults", body_of(rule)),
    )
    return await page.perform(deed, page.db.run(faults.add, page.world, rule), _added, page.url("faults"))


def _added(rule: Rule) -> str:
    struck = f" and has struck {rule.hits:,} already" if rule.hits else ""
    return f"Rule {rule.rule_id} holds from now on{struck}."


@router.post("/do/fault/remove")
async def remove(page: PageOf, form: FormOf) -> Response:
    """Remove one rule."""
    rule_id = form.text("rule", 64)
    deed = Deed(
        f"Remove fault rule {rule_id}",
        command_line(page.world, "fault", "rm", rule_id),
        httpx_lines(page.endpoint, "DELETE", f"faults/{page.part(rule_id)}"),
    )
    return await page.perform(deed, page.db.run(faults.remove, page.world, rule_id), "It strikes nothing any more.")


@router.post("/do/fault/clear")
async def clear(page: PageOf) -> Response:
    """Remove every rule."""
    deed = Deed(
        "Remove every fault",
        command_line(page.world, "fault", "clear"),
        httpx_lines(page.endpoint, "DELETE", "faults"),
    )
    work = page.db.run(faults.remove, page.world, None)
    return await page.perform(deed, work, lambda count: f"{count} {'rule' if count == 1 else 'rules'} removed.")


@router.post("/do/fault/chaos")
async def begin_chaos(page: PageOf, form: FormOf) -> Response:
    """Add everyday trouble, drawn from a seed."""
    seed = form.whole("seed", 0, MOST_SEED)
    deed = Deed(
        f"Begin chaos of seed {seed}",
        command_line(page.world, "fault", "chaos", str(seed)),
        httpx_lines(page.endpoint, "POST", "faults/chaos", {"seed": seed}),
    )
    work = page.db.run(faults.begin_chaos, page.world, seed)
    return await page.perform(deed, work, lambda rules: f"{len(rules)} rules of everyday trouble hold from now on.")


@router.post("/do/fault/calm")
async def end_chaos(page: PageOf) -> Response:
    """Remove the rules of chaos and leave the others."""
    rules = of_chaos(await page.db.run(faults.listed, page.world))
    lines = [command_line(page.world, "fault", "rm", rule.rule_id) for rule in rules]
    calls = [httpx_lines(page.endpoint, "DELETE", f"faults/{rule.rule_id}") for rule in rules[:1]]
    deed = Deed("End chaos", "\n".join(lines), "\n".join(calls))
    return await page.perform(deed, page.db.run(_calm, page.world), lambda count: f"{count} rules of chaos removed.")


async def _calm(tx: Tx, world: str) -> int:
    rules = of_chaos(await faults.listed(tx, world))
    return sum([await faults.remove(tx, world, rule.rule_id) for rule in rules])


def _apis(page: Page) -> Apis:
    found: Apis = page.request.app.state.apis
    return found
