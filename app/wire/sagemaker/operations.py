"""ListClusterOperations and DescribeClusterOperation, for continuous clusters."""

from collections.abc import Mapping
from typing import Any

from app.core.cluster import Cluster
from app.core.operations import HEALTH_CHECK, SCALING, Operation, status
from app.core.times import from_millis, to_millis
from app.usecases import operations
from app.wire.aws.registry import Context
from app.wire.sagemaker import sagemaker
from app.wire.sagemaker.paging import Pager


@sagemaker.operation
async def list_cluster_operations(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    pager = Pager(ctx.scope, "ListClusterOperations", req)
    after = None if pager.position is None else (from_millis(pager.position[0]), pager.position[1])
    async with ctx.service.db.connection() as connection:
        cluster, found = await operations.page(
            connection,
            ctx.scope,
            req["ClusterName"],
            descending=req.get("SortOrder", "Descending") == "Descending",
            after=after,
            limit=pager.size + 1,
            created_after=req.get("CreationTimeAfter"),
            created_before=req.get("CreationTimeBefore"),
            kind=req.get("Type"),
            status=req.get("Status"),
        )
    shown, token = pager.cut(found, lambda last: (to_millis(last.created_at), last.number))
    return {"ClusterOperationSummaries": [_summary(cluster, one) for one in shown], "NextToken": token}


@sagemaker.operation
async def describe_cluster_operation(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    async with ctx.service.db.connection() as connection:
        cluster, found = await operations.one(connection, ctx.scope, req["ClusterName"], req["OperationId"])
    scalings = [_scaling(detail) for detail in found.details] if found.kind == SCALING else None
    checks = list(found.details) if found.kind == HEALTH_CHECK else None
    return {**_summary(cluster, found), "ScalingDetails": scalings, "DeepHealthCheckDetails": checks}


def _summary(cluster: Cluster, operation: Operation) -> dict[str, Any]:
    return {
        "OperationId": operation.operation_id,
        "ClusterArn": cluster.arn,
        "Type": operation.kind,
        "Status": status(operation),
        "CreationTime": operation.created_at,
    }


def _scaling(detail: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "InstanceGroupName": detail["group"],
        "Status": detail["status"],
        "Original": _counts(detail["original"]),
        "Desired": _counts(detail["desired"]),
    }


def _counts(counts: Mapping[str, int]) -> dict[str, int | None]:
    return {"CurrentCount": counts.get("current"), "TargetCount": counts["target"], "MinCount": counts["min"]}
