"""Compute quotas and cluster scheduler configs as answers."""

from typing import Any

from app.core import ids
from app.core.governance import Kind, Resource, failure, status
from app.core.times import WorldTime
from app.usecases.governance import Shown


def details(shown: Shown) -> dict[str, Any]:
    """The answer of DescribeComputeQuota or DescribeClusterSchedulerConfig."""
    resource, now, number, past = shown
    state = status(resource, now) if past is None else past.outcome
    user = _user(resource)
    answer = {
        **_common(resource),
        **(resource.spec if past is None else past.spec),
        f"{resource.kind.shape}Version": number,
        "Status": state,
        "FailureReason": failure(resource, now) if past is None else past.failure,
        "LastModifiedTime": resource.begun_at if past is None else past.begun_at,
        "CreatedBy": user,
        "LastModifiedBy": user,
    }
    if resource.kind is Kind.CONFIG:
        given = answer["SchedulerConfig"]
        answer["StatusDetails"] = {
            part: state for part in ("PriorityClasses", "FairShare", "IdleResourceSharing") if part in given
        }
    return answer


def summary(resource: Resource, now: WorldTime) -> dict[str, Any]:
    """A member of ComputeQuotaSummaries or ClusterSchedulerConfigSummaries."""
    return {
        **_common(resource),
        **resource.spec,
        f"{resource.kind.shape}Version": resource.version,
        "Status": status(resource, now),
        "LastModifiedTime": resource.begun_at,
    }


def _common(resource: Resource) -> dict[str, Any]:
    return {
        f"{resource.kind.shape}Arn": resource.arn,
        f"{resource.kind.shape}Id": resource.resource_id,
        "Name": resource.name,
        "ClusterArn": resource.cluster_arn,
        "CreationTime": resource.created_at,
    }


def _user(resource: Resource) -> dict[str, Any]:
    """The account's root: here an access key names an account and nobody in it."""
    arn = ids.account_root_arn(resource.region, resource.account)
    return {"IamIdentity": {"Arn": arn, "PrincipalId": resource.account}}
