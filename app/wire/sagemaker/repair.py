"""BatchRebootClusterNodes, BatchReplaceClusterNodes, StartClusterHealthCheck."""

from typing import TYPE_CHECKING, Any

from app.core.repair import Checks
from app.usecases import repair
from app.wire.aws.registry import Context
from app.wire.sagemaker import sagemaker
from app.wire.sagemaker.nodes import on_nodes

if TYPE_CHECKING:
    from types_boto3_sagemaker.type_defs import (
        BatchRebootClusterNodesRequestTypeDef,
        BatchReplaceClusterNodesRequestTypeDef,
    )


@sagemaker.operation
async def batch_reboot_cluster_nodes(ctx: Context, req: "BatchRebootClusterNodesRequestTypeDef") -> dict[str, Any]:
    return await on_nodes(ctx, req, repair.reboot)


@sagemaker.operation
async def batch_replace_cluster_nodes(ctx: Context, req: "BatchReplaceClusterNodesRequestTypeDef") -> dict[str, Any]:
    return await on_nodes(ctx, req, repair.replace)


@sagemaker.operation
async def start_cluster_health_check(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    wanted = [
        Checks(one["InstanceGroupName"], one.get("InstanceIds", ()), one["DeepHealthChecks"])
        for one in req["DeepHealthCheckConfigurations"]
    ]
    cluster = await ctx.service.db.run(
        repair.start_health_check, ctx.scope, req["ClusterName"], wanted, ctx.service.policy
    )
    return {"ClusterArn": cluster.arn}
