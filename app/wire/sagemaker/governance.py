"""Compute quotas and cluster scheduler configs: create, describe, update, delete and list of each."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from app.core.governance import Kind, Resource, status
from app.core.times import from_millis, to_millis
from app.usecases import governance
from app.usecases.requests import tags_of
from app.wire.aws.registry import Context
from app.wire.sagemaker import sagemaker
from app.wire.sagemaker.governance_shapes import details, summary
from app.wire.sagemaker.paging import Pager

if TYPE_CHECKING:
    from types_boto3_sagemaker.type_defs import (
        CreateClusterSchedulerConfigRequestTypeDef,
        CreateComputeQuotaRequestTypeDef,
        DeleteClusterSchedulerConfigRequestTypeDef,
        DeleteComputeQuotaRequestTypeDef,
        DescribeClusterSchedulerConfigRequestTypeDef,
        DescribeComputeQuotaRequestTypeDef,
        UpdateClusterSchedulerConfigRequestTypeDef,
        UpdateComputeQuotaRequestTypeDef,
    )

_SPEC = ("SchedulerConfig", "ComputeQuotaConfig", "ComputeQuotaTarget", "ActivationState", "Description")


def _spec(req: Mapping[str, Any]) -> dict[str, Any]:
    return {member: req[member] for member in _SPEC if member in req}


async def _create(ctx: Context, kind: Kind, req: Mapping[str, Any]) -> dict[str, Any]:
    wanted = governance.Wanted(kind, req["Name"], req["ClusterArn"], _spec(req), tags_of(req.get("Tags", ())))
    made = await ctx.service.db.run(governance.create, ctx.scope, wanted, ctx.service.policy)
    return {f"{kind.shape}Arn": made.arn, f"{kind.shape}Id": made.resource_id}


async def _describe(ctx: Context, kind: Kind, req: Mapping[str, Any]) -> dict[str, Any]:
    resource_id, version = req[f"{kind.shape}Id"], req.get(f"{kind.shape}Version")
    async with ctx.service.db.connection() as connection:
        return details(await governance.describe(connection, ctx.scope, kind, resource_id, version))


async def _update(ctx: Context, kind: Kind, req: Mapping[str, Any]) -> dict[str, Any]:
    resource_id, target = req[f"{kind.shape}Id"], req["TargetVersion"]
    changed = await ctx.service.db.run(
        governance.update, ctx.scope, kind, resource_id, target, _spec(req), ctx.service.policy
    )
    return {f"{kind.shape}Arn": changed.arn, f"{kind.shape}Version": changed.version}


async def _delete(ctx: Context, kind: Kind, req: Mapping[str, Any]) -> None:
    await ctx.service.db.run(governance.delete, ctx.scope, kind, req[f"{kind.shape}Id"], ctx.service.policy)


async def _list(ctx: Context, kind: Kind, req: Mapping[str, Any]) -> dict[str, Any]:
    """Without a word by creation time, the newest first, as the API's reference has it."""
    pager = Pager(ctx.scope, f"List{kind.shape}s", req)
    sort = req.get("SortBy", "CreationTime")
    after = pager.position
    if after is not None and sort == "CreationTime":
        after = [from_millis(after[0]), after[1]]
    async with ctx.service.db.connection() as connection:
        found, now = await governance.page(
            connection,
            ctx.scope,
            kind,
            sort=sort,
            descending=req.get("SortOrder") != "Ascending",
            after=after,
            limit=pager.size + 1,
            created_after=req.get("CreatedAfter"),
            created_before=req.get("CreatedBefore"),
            name_contains=req.get("NameContains"),
            status=req.get("Status"),
            cluster_arn=req.get("ClusterArn"),
        )

    def position(last: Resource) -> tuple[Any, str]:
        values = {"Name": last.name, "CreationTime": to_millis(last.created_at), "ClusterArn": last.cluster_id}
        return values.get(sort, status(last, now)), last.resource_id

    shown, token = pager.cut(found, position)
    return {f"{kind.shape}Summaries": [summary(one, now) for one in shown], "NextToken": token}


@sagemaker.operation
async def create_cluster_scheduler_config(
    ctx: Context, req: "CreateClusterSchedulerConfigRequestTypeDef"
) -> dict[str, Any]:
    return await _create(ctx, Kind.CONFIG, req)


@sagemaker.operation
async def describe_cluster_scheduler_config(
    ctx: Context, req: "DescribeClusterSchedulerConfigRequestTypeDef"
) -> dict[str, Any]:
    return await _describe(ctx, Kind.CONFIG, req)


@sagemaker.operation
async def update_cluster_scheduler_config(
    ctx: Context, req: "UpdateClusterSchedulerConfigRequestTypeDef"
) -> dict[str, Any]:
    return await _update(ctx, Kind.CONFIG, req)


@sagemaker.operation
async def delete_cluster_scheduler_config(ctx: Context, req: "DeleteClusterSchedulerConfigRequestTypeDef") -> None:
    await _delete(ctx, Kind.CONFIG, req)


@sagemaker.operation
async def list_cluster_scheduler_configs(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    return await _list(ctx, Kind.CONFIG, req)


@sagemaker.operation
async def create_compute_quota(ctx: Context, req: "CreateComputeQuotaRequestTypeDef") -> dict[str, Any]:
    return await _create(ctx, Kind.QUOTA, req)


@sagemaker.operation
async def describe_compute_quota(ctx: Context, req: "DescribeComputeQuotaRequestTypeDef") -> dict[str, Any]:
    return await _describe(ctx, Kind.QUOTA, req)


@sagemaker.operation
async def update_compute_quota(ctx: Context, req: "UpdateComputeQuotaRequestTypeDef") -> dict[str, Any]:
    return await _update(ctx, Kind.QUOTA, req)


@sagemaker.operation
async def delete_compute_quota(ctx: Context, req: "DeleteComputeQuotaRequestTypeDef") -> None:
    await _delete(ctx, Kind.QUOTA, req)


@sagemaker.operation
async def list_compute_quotas(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    return await _list(ctx, Kind.QUOTA, req)
