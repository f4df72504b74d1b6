"""What begins by the clock, decided once: schedules, patches of a release line, and what stands in their way."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from app.core.cluster import SOFTWARE, Group
from app.core.provisioning import Decision, next_deadline
from app.core.releases import Release, Releases
from app.core.times import WorldTime
from app.core.upkeep import PATCH, PATCH_AFTER, SCHEDULE, begin_due, is_due, next_occurrence
from tests.core.builders import T0, at, classic, in_service, living

FRIDAY = {SCHEDULE: {"ScheduleExpression": "cron(0 2 ? * FRI *)"}}
PATCHED = {PATCH: {"PatchingStrategy": "WhenIdle"}}
DUE = at(hours=26)
"""The first Friday at two o'clock after Thursday, 2026-01-01."""
BOTH = Releases(Release(version) for version in ("1.0.0", "1.1.0", "1.2.0"))


def kept(**facts: Any) -> Group:
    return in_service(2, **({"image": "1.1.0", "schedule_since": T0} | facts))


def made(*groups: Group, moment: WorldTime = DUE, **facts: Any) -> Decision:
    cluster = classic(in_service_at=T0, operation=None) if facts.get("classic") else living()
    return Decision(cluster, {group.name: group for group in groups}, moment)


def kinds(decision: Decision) -> list[str]:
    return [event.kind for event in decision.events]


def test_an_occurrence_is_met_once() -> None:
    """HP-30: asked again at the same instant nothing more is decided."""
    group = kept(request=FRIDAY)
    assert next_occurrence(group, T0) == DUE
    assert is_due(group, DUE)
    assert not is_due(group, at(hours=27))
    decision = made(group)
    assert begin_due(decision, BOTH, {"workers"})
    begun = decision.groups["workers"]
    assert (begun.update_status, begun.image, begun.former_image) == ("Pending", "1.2.0", "1.1.0")
    assert not is_due(begun, DUE)
    assert next_occurrence(begun, DUE) == DUE + timedelta(days=7)
    assert not begin_due(decision, BOTH, set())
    assert kinds(decision) == ["patching-scheduled"]


def test_the_busy_wait_for_the_next_occurrence() -> None:
    """HP-19, HP-30."""
    decision = made(kept(request=FRIDAY, min_since=T0))
    assert not begin_due(decision, BOTH, {"workers"})
    assert decision.groups["workers"].update_status is None
    assert not is_due(decision.groups["workers"], DUE)
    assert kinds(decision) == ["patching-schedule-failed"]
    assert "is in Updating state" in decision.events[0].params["failure"]


def test_groups_of_a_classic_cluster_begin_together() -> None:
    """HP-30, HP-40: the first does not stand in the way of the second."""
    decision = made(kept(name="a", request=FRIDAY), kept(name="b", request=FRIDAY), classic=True)
    assert begin_due(decision, BOTH, {"a", "b"})
    assert decision.cluster.operation == SOFTWARE
    assert [group.update_status for group in decision.groups.values()] == ["Pending", "Pending"]


@pytest.mark.parametrize("facts", [{"schedule_since": None}, {"delete_requested_at": T0}, {"image": "ami-01234567"}])
def test_who_has_no_next_occurrence(facts: dict[str, Any]) -> None:
    """HP-30: a group from before schedules were followed, one that leaves, and one on a custom AMI."""
    assert next_occurrence(kept(request=FRIDAY, **facts), T0) is None


def test_a_patch_is_found_awaited_and_applied() -> None:
    """HP-30."""
    releases = Releases([*BOTH, Release("1.1.2"), Release("1.1.1"), Release("1.1.3", retired=True)])
    decision = made(kept(request=PATCHED))
    assert not begin_due(decision, releases, set())
    found = decision.groups["workers"]
    assert (found.patch_found_at, found.next_patch_at) == (DUE, DUE + PATCH_AFTER)
    assert next_deadline(decision.cluster, decision.groups) == found.next_patch_at
    on_the_day = made(found, moment=WorldTime(DUE + PATCH_AFTER))
    assert begin_due(on_the_day, releases, set())
    begun = on_the_day.groups["workers"]
    assert (begun.image, begun.update_status, begun.next_patch_at) == ("1.1.2", "Pending", None)
    assert begun.update_config == {"PatchingStrategy": "WhenIdle"}
    gone = made(found)
    assert not begin_due(gone, BOTH, set())
    assert gone.groups["workers"].patch_found_at is None


@pytest.mark.parametrize(
    ("asked", "planned"),
    [("2026-01-02T02:00:00Z", timedelta(0)), ("2026-03-03T02:00:00Z", timedelta(days=60))],
    ids=["at once", "at the latest"],
)
def test_a_day_that_was_asked_for(asked: str, planned: timedelta) -> None:
    """HP-30: it counts from the finding to 60 days later; one that has come already is the day itself."""
    schedule = {"PatchSchedule": {"NextPatchDate": asked}}
    decision = made(kept(request={PATCH: {**PATCHED[PATCH], **schedule}}))
    begun = begin_due(decision, Releases([*BOTH, Release("1.1.1")]), set())
    group = decision.groups["workers"]
    assert begun == (planned == timedelta(0))
    assert group.next_patch_at == (None if begun else DUE + planned)
    assert datetime.fromisoformat(asked) == DUE + planned


@pytest.mark.parametrize(("image", "patch"), [("1.1.0", "1.1.10"), ("1.1.10", None), ("1.2.0", None), ("ami-1", None)])
def test_the_patch_of_a_line(image: str, patch: str | None) -> None:
    """HP-30: by number, within MAJOR.MINOR, alive."""
    found = Releases([*BOTH, Release("1.1.9"), Release("1.1.10"), Release("1.1.11", retired=True)])
    assert found.patch_of(image) == patch
