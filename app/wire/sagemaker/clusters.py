"""CreateCluster, DescribeCluster, ListClusters, UpdateCluster, DeleteCluster."""

from typing import TYPE_CHECKING, Any

from app.core.times import from_millis, to_millis
from app.usecases import clusters, descriptions, updates
from app.usecases.requests import cluster_intent, update_intent
from app.wire.aws.registry import Context
from app.wire.sagemaker import sagemaker
from app.wire.sagemaker.paging import Pager
from app.wire.sagemaker.writing import cluster_details, cluster_summary

if TYPE_CHECKING:
    from types_boto3_sagemaker.type_defs import (
        CreateClusterRequestTypeDef,
        DeleteClusterRequestTypeDef,
        DescribeClusterRequestTypeDef,
        UpdateClusterRequestTypeDef,
    )


@sagemaker.operation
async def create_cluster(ctx: Context, req: "CreateClusterRequestTypeDef") -> dict[str, Any]:
    intent = cluster_intent(req, ctx.service.settings)
    cluster = await clusters.create(ctx.service.db, ctx.scope, intent)
    return {"ClusterArn": cluster.arn}


@sagemaker.operation
async def describe_cluster(ctx: Context, req: "DescribeClusterRequestTypeDef") -> dict[str, Any]:
    world_has = await ctx.service.remembered.of(ctx.service.db, ctx.scope.world)
    async with ctx.service.db.connection() as connection:
        found = await descriptions.describe(connection, ctx.scope, req["ClusterName"], world_has)
    return cluster_details(found, ctx.scope)


@sagemaker.operation
async def list_clusters(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    pager = Pager(ctx.scope, "ListClusters", req)
    by_name = req.get("SortBy") == "NAME"
    after = None
    if pager.position is not None:
        value, cluster_id = pager.position
        after = (value if by_name else from_millis(value), cluster_id)
    async with ctx.service.db.connection() as connection:
        found = await clusters.page(
            connection,
            ctx.scope,
            by_name=by_name,
            descending=req.get("SortOrder") == "Descending",
            after=after,
            limit=pager.size + 1,
            created_after=req.get("CreationTimeAfter"),
            created_before=req.get("CreationTimeBefore"),
            name_contains=req.get("NameContains"),
            plan_arn=req.get("TrainingPlanArn"),
        )
    shown, token = pager.cut(
        found, lambda last: (last.name if by_name else to_millis(last.created_at), last.cluster_id)
    )
    return {"ClusterSummaries": [cluster_summary(one, ctx.scope) for one in shown], "NextToken": token}


@sagemaker.operation
async def update_cluster(ctx: Context, req: "UpdateClusterRequestTypeDef") -> dict[str, Any]:
    intent = update_intent(req, ctx.service.settings)
    cluster = await ctx.service.db.run(updates.update, ctx.scope, req["ClusterName"], intent, ctx.service.policy)
    return {"ClusterArn": cluster.arn}


@sagemaker.operation
async def delete_cluster(ctx: Context, req: "DeleteClusterRequestTypeDef") -> dict[str, Any]:
    cluster = await ctx.service.db.run(clusters.delete, ctx.scope, req["ClusterName"], ctx.service.policy)
    return {"ClusterArn": cluster.arn}
