"""The census of a whole run sees what it should, and misses what is missing."""

import contextlib
import tomllib
from pathlib import Path

from tests import census
from tests.census import Sight
from tests.kit import TestWorld, eks, group

ROOT = Path(__file__).parents[1]


def test_calls_errors_and_values_are_seen(world: TestWorld) -> None:
    before = set(census.seen)
    census.seen.clear()
    try:
        world.sagemaker.create_cluster(**eks(group("a")))
        world.describe()
        with contextlib.suppress(world.sagemaker.exceptions.ResourceNotFound):
            world.describe("nobody")
        assert {
            Sight("call", "CreateCluster", ""),
            Sight("error", "DescribeCluster", "ResourceNotFound"),
            Sight("value", "ClusterStatus", "Creating"),
            Sight("value", "InstanceGroupStatus", "Creating"),
        } <= census.seen
    finally:
        census.seen.update(before)


def test_what_nobody_saw_is_named() -> None:
    everything = census.wanted()
    assert census.missing(everything) == []
    gap = Sight("value", "ClusterStatus", "RollingBack")
    assert census.missing(everything - {gap}) == ["value ClusterStatus RollingBack"]


def test_what_is_out_of_reach_is_declared_by_the_model() -> None:
    """An excuse for what does not exist is none."""
    model = {(sight.name, sight.what) for sight in census.wanted()} | set(census.OUT_OF_REACH)
    assert len(model) == len(census.wanted()) + len(census.OUT_OF_REACH)


def test_the_coverage_page_says_something_of_every_operation() -> None:
    """An operation that the model gains fails here until somebody has said how it differs."""
    said = tomllib.loads((ROOT / "scripts" / "coverage.toml").read_text(encoding="utf-8"))
    family = {sight.name for sight in census.wanted() if sight.kind == "call"}
    tags, others = {"AddTags", "ListTags", "DeleteTags"}, {"GetCostAndUsage"}
    assert set(said["differences"]) == family | tags | others


def test_the_coverage_page_tells_how_each_status_is_reached() -> None:
    """And of none that does not exist."""
    said = tomllib.loads((ROOT / "scripts" / "coverage.toml").read_text(encoding="utf-8"))
    told = {(name, value) for name, values in said["reached"].items() for value in values}
    statuses = {(s.name, s.what) for s in census.wanted() if s.kind == "value" and s.name.endswith("Status")}
    assert told == statuses
