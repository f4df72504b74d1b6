"""ListClusterNodes, DescribeClusterNode, BatchAddClusterNodes, BatchDeleteClusterNodes."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from app.core.errors import Invalid
from app.core.times import from_millis, to_millis
from app.usecases import nodes
from app.usecases.clusters import world_of
from app.usecases.nodes import Addition
from app.wire.aws.registry import Context
from app.wire.sagemaker import sagemaker
from app.wire.sagemaker.paging import Pager
from app.wire.sagemaker.writing import node_details, node_summary

if TYPE_CHECKING:
    from types_boto3_sagemaker.type_defs import (
        BatchAddClusterNodesRequestTypeDef,
        BatchDeleteClusterNodesRequestTypeDef,
        DescribeClusterNodeRequestTypeDef,
    )


@sagemaker.operation
async def list_cluster_nodes(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    pager = Pager(ctx.scope, "ListClusterNodes", req)
    by_name = req.get("SortBy") == "NAME"
    logical = req.get("IncludeNodeLogicalIds", False)
    after = pager.position
    if after is not None and not by_name:
        after = [from_millis(after[0]), after[1]]
    world_has = await ctx.service.remembered.of(ctx.service.db, ctx.scope.world)
    async with ctx.service.db.connection() as connection:
        seed, _, found = await nodes.page(
            connection,
            ctx.scope,
            req["ClusterName"],
            by_name=by_name,
            descending=req.get("SortOrder") == "Descending",
            after=after,
            limit=pager.size + 1,
            group_contains=req.get("InstanceGroupNameContains"),
            created_after=req.get("CreationTimeAfter"),
            created_before=req.get("CreationTimeBefore"),
            unlaunched=logical,
            terminating=not world_has.late,
        )
    shown, token = pager.cut(
        found,
        lambda last: (last.group, last.ordinal) if by_name else (to_millis(last.created_at), last.logical_id),
    )
    summaries = [node_summary(node, seed, ctx.scope.region, logical, world_has.releases) for node in shown]
    return {"ClusterNodeSummaries": summaries, "NextToken": token}


@sagemaker.operation
async def describe_cluster_node(ctx: Context, req: "DescribeClusterNodeRequestTypeDef") -> dict[str, Any]:
    instance_id, logical_id = req.get("NodeId"), req.get("NodeLogicalId")
    if (instance_id is None) == (logical_id is None):
        raise Invalid("Give exactly one of NodeId and NodeLogicalId.")
    world_has = await ctx.service.remembered.of(ctx.service.db, ctx.scope.world)
    async with ctx.service.db.transaction() as tx:
        seed = (await world_of(tx, ctx.scope)).seed
        cluster, group, node = await nodes.find(
            tx, ctx.scope, req["ClusterName"], instance_id=instance_id, logical_id=logical_id
        )
    return {"NodeDetails": node_details(cluster, group, node, seed, world_has.releases)}


@sagemaker.operation
async def batch_add_cluster_nodes(ctx: Context, req: "BatchAddClusterNodesRequestTypeDef") -> dict[str, Any]:
    items = [
        Addition(
            item["InstanceGroupName"],
            item["IncrementTargetCountBy"],
            tuple(item.get("AvailabilityZones", ())),
            tuple(item.get("InstanceTypes", ())),
        )
        for item in req["NodesToAdd"]
    ]
    token = req.get("ClientToken") or None
    answer: dict[str, Any] = await ctx.service.db.run(
        nodes.add, ctx.scope, req["ClusterName"], items, token, ctx.service.policy
    )
    return answer


@sagemaker.operation
async def batch_delete_cluster_nodes(ctx: Context, req: "BatchDeleteClusterNodesRequestTypeDef") -> dict[str, Any]:
    return await on_nodes(ctx, req, nodes.delete)


async def on_nodes(
    ctx: Context, req: Mapping[str, Any], work: Callable[..., Awaitable[dict[str, Any]]]
) -> dict[str, Any]:
    """A batch operation on nodes that are named by either of their ids."""
    answer: dict[str, Any] = await ctx.service.db.run(
        work,
        ctx.scope,
        req["ClusterName"],
        req.get("NodeIds", ()),
        req.get("NodeLogicalIds", ()),
        ctx.service.policy,
    )
    return answer
