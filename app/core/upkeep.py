"""Software that is kept up to date by the clock: scheduled updates and automatic patches of instance groups (HP-30).

`ScheduledUpdateConfig` updates to the latest release whenever its cron expression says. `AutoPatchConfig` never leaves
the release line: a patch of it (1.1.0, then 1.1.1) that is found is applied three weeks later, or when
`NextPatchDate` says. Source: the developer guide's page "Amazon SageMaker HyperPod AMI automatic patching".
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from app.core import cron
from app.core.cluster import SOFTWARE, Cluster, Group
from app.core.errors import Conflict, Invalid
from app.core.intent import EKS, GroupIntent
from app.core.provisioning import Decision
from app.core.releases import Releases, is_custom
from app.core.software import PENDING, STRATEGY, check_deployment, check_group_may_patch, check_may_patch, schedule
from app.core.times import MILLISECOND, WorldTime, after, to_iso

SCHEDULE, PATCH = "ScheduledUpdateConfig", "AutoPatchConfig"
PATCH_AFTER = timedelta(days=21)
PATCH_WITHIN = timedelta(days=60)
_DRAIN = "DrainFirst"
Request = Mapping[str, Any]


def facts(old: Group | None, intent: GroupIntent, orchestrator: str, at: WorldTime) -> dict[str, Any]:
    """What the configs of a new or a changed group make of it at `at`; Invalid for those that cannot be followed."""
    where, request = f"Instance group '{intent.name}'", intent.request
    was = old.spec["request"] if old else {}
    kept = old is not None and request.get(SCHEDULE) == was.get(SCHEDULE)
    since = old.schedule_since if old is not None and kept else None
    if SCHEDULE in request and since is None:
        _check_schedule(where, request[SCHEDULE], at)
        since = at
    found, planned = (old.patch_found_at, old.next_patch_at) if old else (None, None)
    if PATCH not in request:
        found = planned = None
    else:
        _check_patching(where, request[PATCH], orchestrator)
        moved = _asked_date(request)
        if moved is not None and moved != _asked_date(was):
            _check_date(where, moved, found, at)
            planned = moved if found else None
    return {"schedule_since": since, "patch_found_at": found, "next_patch_at": planned}


def _check_schedule(where: str, config: Request, at: WorldTime) -> None:
    check_deployment(config.get("DeploymentConfig", {}))
    expression = config["ScheduleExpression"]
    if cron.parse(expression).next_after(at) is None:
        raise Invalid(
            f"{where}: ScheduleExpression '{expression}' names no moment after {to_iso(at)}. Give one that is to come."
        )


def _check_patching(where: str, config: Request, orchestrator: str) -> None:
    if orchestrator != EKS:
        raise Invalid(f"{where}: {PATCH} needs the EKS orchestrator. Remove {PATCH}, or give ScheduledUpdateConfig.")
    strategy, deployment = config["PatchingStrategy"], config.get("DeploymentConfig", {})
    check_deployment(deployment)
    if strategy == _DRAIN and "RollingUpdatePolicy" not in deployment:
        raise Invalid(f"{where}: PatchingStrategy {_DRAIN} needs MaximumBatchSize. Add it to {PATCH}.DeploymentConfig.")
    if strategy != _DRAIN and "DrainPolicy" in config:
        raise Invalid(f"{where}: DrainPolicy is for PatchingStrategy {_DRAIN}, not {strategy}. Remove DrainPolicy.")


def _check_date(where: str, date: WorldTime, found: WorldTime | None, at: WorldTime) -> None:
    last = after(found, PATCH_WITHIN) if found else None
    if date < at or (last is not None and date > last):
        until = f" and by {to_iso(last)}, 60 days after the patch was found" if last else ""
        raise Invalid(f"{where}: NextPatchDate {to_iso(date)} must not lie before {to_iso(at)}{until}.")


def _asked_date(request: Request) -> WorldTime | None:
    """The date of a request, or of its copy in a group's spec."""
    date = request.get(PATCH, {}).get("PatchSchedule", {}).get("NextPatchDate")
    return WorldTime(datetime.fromisoformat(date)) if isinstance(date, str) else date


def patching_details(
    request: Request, found_at: WorldTime | None, next_at: WorldTime | None, now: WorldTime
) -> dict[str, Any]:
    """`AutoPatchConfig` as descriptions have it: a date that was asked for waits until a patch is found."""
    details = {key: value for key, value in request[PATCH].items() if key != "PatchSchedule"}
    desired = asked if (asked := _asked_date(request)) is not None and asked > now else None
    if found_at is not None:
        desired = next_at
        details["CurrentPatchSchedule"] = {"NextPatchDate": desired}
    if desired is not None:
        details["DesiredPatchSchedule"] = {"NextPatchDate": desired}
    return details


def keeps_time(group: Group) -> bool:
    """True for a group whose software the clock may change."""
    return group.delete_requested_at is None and (group.schedule_since is not None or PATCH in group.spec["request"])


def next_occurrence(group: Group, at: WorldTime) -> WorldTime | None:
    """When the group's schedule is next due after `at`."""
    if group.schedule_since is None or group.delete_requested_at is not None or is_custom(group.image):
        return None
    return _cron(group).next_after(max(at, group.schedule_since))


def is_due(group: Group, at: WorldTime) -> bool:
    """True when `at` is an occurrence of the group's schedule that nobody has met yet."""
    return next_occurrence(group, WorldTime(at - MILLISECOND)) == at


def _cron(group: Group) -> cron.Cron:
    return cron.parse(group.spec["request"][SCHEDULE]["ScheduleExpression"])


def begin_due(made: Decision, releases: Releases, scheduled: Collection[str]) -> bool:
    """Begin what is due at this instant; `scheduled` names the groups whose schedule is, and would change something.

    What cannot begin is told, and waits for its next turn. True if anything has begun; asked again at the same instant
    it decides nothing more.
    """
    resting, begun = made.cluster, False
    for group in [one for one in made.groups.values() if keeps_time(one)]:
        group = _follow(group, releases, made.at)
        if group.name in scheduled:
            group = replace(group, schedule_since=made.at)
            config = group.spec["request"][SCHEDULE].get("DeploymentConfig")
            group = _begin(made, resting, group, releases.newest, config) or group
        if group.next_patch_at is not None and group.next_patch_at <= made.at:
            group = _patch(made, resting, group, releases)
        if group != made.groups[group.name]:
            begun = begun or group.update_status == PENDING
            made.groups[group.name] = group
    return begun


def _follow(group: Group, releases: Releases, at: WorldTime) -> Group:
    """A patch of the group's line has been found, or there is none any more."""
    if PATCH not in group.spec["request"] or group.under_update:
        return group
    if releases.patch_of(group.image) is None:
        return replace(group, patch_found_at=None, next_patch_at=None)
    if group.patch_found_at is not None:
        return group
    asked = _asked_date(group.spec["request"])
    in_time = asked is not None and at <= asked <= after(at, PATCH_WITHIN)
    return replace(group, patch_found_at=at, next_patch_at=asked if in_time else after(at, PATCH_AFTER))


def _patch(made: Decision, resting: Cluster, group: Group, releases: Releases) -> Group:
    """Patch the group now, or in the next cycle, which is as long as the first."""
    config = group.spec["request"][PATCH]
    deployment = config.get("DeploymentConfig", {}) if config["PatchingStrategy"] == _DRAIN else {}
    image = releases.patch_of(group.image) or group.image
    begun = _begin(made, resting, group, image, {**deployment, STRATEGY: config["PatchingStrategy"]})
    if begun is None:
        return replace(group, patch_found_at=made.at, next_patch_at=after(made.at, PATCH_AFTER))
    return replace(begun, patch_found_at=None, next_patch_at=None)


def _begin(made: Decision, resting: Cluster, group: Group, image: str, config: Request | None) -> Group | None:
    """The group with its update, as if UpdateClusterSoftware had been called; None, and told, where it is refused."""
    try:
        check_may_patch(resting)
        check_group_may_patch(resting, group)
    except Conflict as refusal:
        made.tell("patching-schedule-failed", group, failure=str(refusal))
        return None
    made.tell("patching-scheduled", group)
    if not made.cluster.continuous:
        made.become(operation=SOFTWARE)
    return schedule(group, image, config)
