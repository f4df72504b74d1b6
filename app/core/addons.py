"""What a cluster has besides its nodes, as far as the control plane shows it: autoscaling, tiered storage, and the
environment of restricted instance groups.

AWS states no rule for when each becomes visible; what the field reports and what is chosen is in docs/fidelity.md.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from app.core.errors import Invalid
from app.core.times import WorldTime, from_millis, to_millis

AUTO_SCALING = "AutoScaling"
_FACTS = "AutoScalingFacts"
FAILED = "Karpenter could not be set up: {}. Disable AutoScaling, correct the cause, and enable it again."

Spec = Mapping[str, Any]


def check(spec: Spec, given: Spec, *, eks: bool, continuous: bool) -> None:
    """Refuse an autoscaling that cannot work; `spec` is what the cluster has, `given` what a request brings."""
    wanted = given.get(AUTO_SCALING)
    enabled = (wanted or spec.get(AUTO_SCALING) or {}).get("Mode") == "Enable"
    if wanted is not None and not eks:
        raise Invalid("AutoScaling needs the EKS orchestrator. Remove AutoScaling.")
    if wanted is not None and enabled and not continuous:
        raise Invalid("AutoScaling needs NodeProvisioningMode Continuous. Add it, or remove AutoScaling.")
    if wanted is not None and enabled and "ClusterRole" not in {**spec, **given}:
        raise Invalid(
            "AutoScaling needs ClusterRole, the role with which nodes are added and deleted. Add ClusterRole."
        )
    was_enabled = spec.get(AUTO_SCALING, {}).get("Mode") == "Enable"
    if was_enabled and enabled and given.get("ClusterRole", spec.get("ClusterRole")) != spec.get("ClusterRole"):
        raise Invalid("ClusterRole cannot be changed while AutoScaling is enabled. Disable AutoScaling first.")


def with_facts(spec: Spec, given: Spec, at: WorldTime, failure: str | None) -> dict[str, Any]:
    """The cluster's spec with what a request brings; `failure` is the fault that its autoscaling meets."""
    merged = {**spec, **given}
    if AUTO_SCALING in given and given[AUTO_SCALING] != spec.get(AUTO_SCALING):
        merged[_FACTS] = {"since": to_millis(at), "failure": failure}
    return merged


def auto_scaling(spec: Spec, now: WorldTime, setup: timedelta) -> dict[str, Any] | None:
    """DescribeCluster's AutoScaling: Creating or Deleting for as long as a set-up takes; none once it is deleted."""
    if AUTO_SCALING not in spec:
        return None
    shown, facts = dict(spec[AUTO_SCALING]), spec[_FACTS]
    under_way = now < from_millis(facts["since"]) + setup
    if shown["Mode"] == "Disable":
        return {**shown, "Status": "Deleting"} if under_way else None
    if under_way:
        return {**shown, "Status": "Creating"}
    if facts["failure"] is not None:
        return {**shown, "Status": "Failed", "FailureMessage": FAILED.format(facts["failure"])}
    return {**shown, "Status": "InService"}


def tiered_storage(spec: Spec, opened_at: WorldTime | None) -> Mapping[str, Any] | None:
    """DescribeCluster's TieredStorageConfig: absent until the cluster's own set-up is done (seen in the field)."""
    shown: Mapping[str, Any] | None = spec.get("TieredStorageConfig")
    return shown if opened_at is not None else None


def restricted_environment(spec: Spec) -> dict[str, Any] | None:
    """DescribeCluster's RestrictedInstanceGroupsConfig: what is wanted is had at once (chosen)."""
    if "RestrictedInstanceGroupsConfig" not in spec:
        return None
    given = spec["RestrictedInstanceGroupsConfig"]["SharedEnvironmentConfig"]
    return {
        "SharedEnvironmentConfig": {
            f"{when}{key}": value for when in ("Current", "Desired") for key, value in given.items()
        }
    }
