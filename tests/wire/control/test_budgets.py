"""The tree of budgets by the control API and the command line (FS-1, CT-2, CT-10)."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.commands.client import Refused
from tests.kit import TestWorld

TREE = """
[[budgets]]
name = "research"
weight = 3

[[budgets]]
name = "pretraining"
parent = "research"
weight = 2
limits = [{ amount = 10000, unit = "gpu-hours", period = "month" }]

[[budgets]]
name = "alignment"
parent = "research"
weight = 1

[[budgets]]
name = "product"
weight = 1
"""


class Budgets:
    """`windtunnel budget …` in one world."""

    def __init__(self, world: TestWorld) -> None:
        self.world = world

    def say(self, *words: str) -> str:
        where = ["--world", self.world.name, "--endpoint", self.world.base]
        done = CliRunner().invoke(app, ["budget", *words, *where], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    def ask(self, *words: str) -> Any:
        return json.loads(self.say(*words, "--json"))

    def kinds(self, *words: str) -> list[tuple[str, str]]:
        return [(one["kind"], one["name"]) for one in self.ask(*words)["changes"]]

    def claims(self) -> dict[str, str]:
        return {one["name"]: one["claim"] for one in self.ask("list")["budgets"]}


@pytest.fixture
def budgets(world: TestWorld) -> Budgets:
    return Budgets(world)


@pytest.fixture
def tree(tmp_path: Path) -> str:
    path = tmp_path / "budgets.toml"
    path.write_text(TREE)
    return str(path)


def test_a_tree_is_applied_from_a_file_once(budgets: Budgets, tree: str) -> None:
    """CT-10: parents first; a second time nothing changes; `--dry-run` writes nothing."""
    planned = budgets.kinds("apply", tree, "--dry-run")
    assert planned == [
        ("create", "research"),
        ("create", "pretraining"),
        ("create", "alignment"),
        ("create", "product"),
        ("limit", "pretraining"),
    ]
    assert budgets.say("list") == "no budgets\n"
    assert budgets.kinds("apply", tree) == planned
    assert budgets.say("apply", tree) == "nothing changes\n"
    assert budgets.claims() == {"product": "1/4", "research": "3/4", "alignment": "1/4", "pretraining": "1/2"}
    shown = budgets.say("list")
    assert "    pretraining" not in shown
    assert "  pretraining" in shown
    assert "50.00" in shown
    assert "10000 gpu-hours a month" in shown


def test_what_the_file_lacks_is_deleted_from_below(budgets: Budgets, tree: str, tmp_path: Path) -> None:
    budgets.say("apply", tree)
    small = tmp_path / "small.json"
    small.write_text(json.dumps({"budgets": [{"name": "product", "weight": 1}]}))
    assert budgets.kinds("apply", str(small)) == [
        ("delete", "pretraining"),
        ("delete", "alignment"),
        ("delete", "research"),
    ]
    assert budgets.claims() == {"product": "1/1"}


def test_every_verb(budgets: Budgets, tree: str) -> None:
    """CT-11: each is one change, or, of a shift, two, numbered in the world's history."""
    budgets.say("apply", tree)
    assert budgets.kinds("create", "infra", "--weight", "2", "--parent", "product") == [("create", "infra")]
    assert budgets.kinds("reweight", "research", "1") == [("reweight", "research")]
    assert budgets.claims()["infra"] == "1/2"
    assert budgets.kinds("shift", "pretraining", "alignment", "1") == [
        ("reweight", "pretraining"),
        ("reweight", "alignment"),
    ]
    assert (budgets.claims()["pretraining"], budgets.claims()["alignment"]) == ("1/6", "1/3")
    assert budgets.kinds("move", "alignment", "product") == [("move", "alignment")]
    assert budgets.claims()["alignment"] == "1/4"
    assert budgets.kinds("move", "infra") == [("move", "infra")]
    assert budgets.kinds("limit", "infra", "5:gpu-hours:all", "9:micro-usd:month") == [("limit", "infra")]
    [infra] = [one for one in budgets.ask("list")["budgets"] if one["name"] == "infra"]
    assert infra["limits"] == [
        {"amount": 5, "unit": "gpu-hours", "period": "all"},
        {"amount": 9, "unit": "micro-usd", "period": "month"},
    ]
    assert budgets.ask("limit", "infra")["changes"][0]["limits"] == []
    assert budgets.kinds("delete", "infra") == [("delete", "infra")]
    rows = json.loads(budgets.world.export())["tables"]["budget_change"]
    assert [row["number"] for row in rows] == list(range(1, len(rows) + 1))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("create", "research"), "There is a budget research already"),
        (("create", "Team"), "a label can carry"),
        (("create", "x", "--parent", "nobody"), "no budget nobody"),
        (("reweight", "nobody", "1"), "no budget nobody"),
        (("move", "research", "pretraining"), "below research"),
        (("delete", "research"), "has budgets or workloads"),
        (("shift", "research", "product", "4"), "weight of 3"),
        (("shift", "research", "alignment", "1"), "no siblings"),
        (("limit", "product", "1:gpu-hours:week"), "month"),
        (("limit", "product", "1:gpu-hours:all", "2:gpu-hours:all"), "Give each once"),
    ],
)
def test_what_the_tree_forbids_is_refused_and_not_written(
    budgets: Budgets, tree: str, words: tuple[str, ...], told: str
) -> None:
    budgets.say("apply", tree)
    before = budgets.world.export()
    with pytest.raises(Refused, match=told):
        budgets.say(*words)
    assert budgets.world.export() == before


def test_a_file_that_cannot_be_is_refused_whole(budgets: Budgets, tree: str) -> None:
    budgets.say("apply", tree)
    before = budgets.world.export()
    broken = {"budgets": [{"name": "a", "weight": 1}, {"name": "b", "parent": "c", "weight": 1}]}
    answer = budgets.world.http.put(f"{budgets.world.endpoint}/_windtunnel/budgets", json=broken)
    assert answer.status_code == 400
    assert "not there" in answer.json()["error"]["message"]
    assert budgets.world.export() == before


def test_a_change_without_a_change_is_refused(budgets: Budgets, tree: str) -> None:
    budgets.say("apply", tree)
    answer = budgets.world.http.patch(f"{budgets.world.endpoint}/_windtunnel/budgets/product", json={})
    assert answer.status_code == 400


def test_budgets_go_with_their_world(budgets: Budgets, tree: str) -> None:
    """CT-2: a seed plants them; a fork, a snapshot and an export have them."""
    world = budgets.world
    seed = {"budgets": [{"name": "a", "weight": 1}, {"name": "b", "parent": "a", "weight": 2}]}
    world.control("POST", "reset", json={"seed": seed})
    assert budgets.claims() == {"a": "1/1", "b": "1/1"}
    world.control("POST", "snapshots", json={"name": "before"})
    budgets.say("apply", tree)
    wanted = budgets.claims()
    world.control("POST", "worlds", json={"name": f"{world.name}-fork", "fork_of": world.name})
    fork = TestWorld(world.base, f"{world.name}-fork")
    assert Budgets(fork).claims() == wanted
    fork.close()
    world.control("POST", "snapshots/before/restore")
    assert budgets.claims() == {"a": "1/1", "b": "1/1"}


def test_at_one_moment_each_change_has_a_number_of_its_own(budgets: Budgets) -> None:
    """Requests at once are served in turn; none is lost."""
    from concurrent.futures import ThreadPoolExecutor

    def make(number: int) -> int:
        url = f"{budgets.world.endpoint}/_windtunnel/budgets"
        return budgets.world.http.post(url, json={"name": f"b{number}", "weight": 1}).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(make, range(24))) == {201}
    assert len(budgets.claims()) == 24
