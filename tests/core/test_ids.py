"""Names and ids have the vendor's forms and are the same in every run."""

import re
from typing import Any

import pytest

from app.core import ids
from tests.core.builders import ACCOUNT, REGION, SEED

LOGICAL = ids.logical_id(SEED, "abcdefghij12", "workers", 1)
FORMS = {
    "ClusterArn": ids.cluster_arn(REGION, ACCOUNT, ids.cluster_id(SEED, ACCOUNT, REGION, "demo", 0)),
    "ClusterNodeLogicalId": LOGICAL,
    "ClusterNodeId": ids.instance_id(SEED, "abcdefghij12", LOGICAL, 1),
    "EventId": ids.event_id(SEED, "abcdefghij12", 1),
    "ClusterPrivatePrimaryIp": ids.private_ip(SEED, "i-0"),
}


@pytest.mark.parametrize("shape", FORMS)
def test_forms(shape: str, shapes: dict[str, Any]) -> None:
    """HP-W4: the pattern of the service model."""
    assert re.fullmatch(shapes[shape]["pattern"], FORMS[shape])


def test_uuids_are_of_version_4() -> None:
    """HP-26."""
    for text in (LOGICAL, FORMS["EventId"]):
        assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", text)


def test_interfaces_have_ec2_s_form() -> None:
    assert re.fullmatch(r"eni-[0-9a-f]{17}", ids.network_interface_id(SEED, "i-0"))


def test_addresses_are_inside_10_8() -> None:
    parts = [[int(part) for part in ids.private_ip(SEED, f"i-{n}").split(".")] for n in range(500)]
    assert all(first == 10 and 1 <= last <= 254 for first, _, _, last in parts)


def test_nothing_repeats() -> None:
    """Other seeds, accounts, regions, names and generations give other ids."""
    base = (SEED, ACCOUNT, REGION, "demo", 0)
    others = [(8, *base[1:]), (SEED, "444455556666", *base[2:]), (SEED, ACCOUNT, "eu-west-1", "demo", 0)]
    others += [(SEED, ACCOUNT, REGION, "other", 0), (SEED, ACCOUNT, REGION, "demo", 1)]
    assert len({ids.cluster_id(*one) for one in [base, *others]}) == 6
    assert ids.cluster_id(*base) == ids.cluster_id(*base)
    attempts = {ids.instance_id(SEED, "abcdefghij12", LOGICAL, attempt) for attempt in range(100)}
    assert len(attempts) == 100


@pytest.mark.parametrize(
    ("region", "partition"), [("us-west-2", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")], ids=str
)
def test_partitions(region: str, partition: str) -> None:
    assert ids.cluster_arn(region, ACCOUNT, "abc") == f"arn:{partition}:sagemaker:{region}:{ACCOUNT}:cluster/abc"


@pytest.mark.parametrize("seq", [0, 1, 2, 9_999, 10_000, 2**31, 2**47])
def test_an_event_is_found_by_its_id(seq: int) -> None:
    assert ids.event_seq(SEED, "abcdefghij12", ids.event_id(SEED, "abcdefghij12", seq)) == seq


FOREIGN = {
    "another cluster's": ids.event_id(SEED, "zzzzzzzzzz12", 1),
    "another world's": ids.event_id(SEED + 1, "abcdefghij12", 1),
    "another head": "00000000" + ids.event_id(SEED, "abcdefghij12", 1)[8:],
    "made up": "00000000-0000-4000-8000-000000000000",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_event_id_is_no_event(name: str) -> None:
    """RL-22."""
    assert ids.event_seq(SEED, "abcdefghij12", FOREIGN[name]) is None
