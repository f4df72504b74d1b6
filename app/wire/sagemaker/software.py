"""UpdateClusterSoftware (HP-30)."""

from typing import TYPE_CHECKING, Any

from app.usecases import software
from app.usecases.software import SoftwareIntent
from app.wire.aws.registry import Context
from app.wire.sagemaker import sagemaker

if TYPE_CHECKING:
    from types_boto3_sagemaker.type_defs import UpdateClusterSoftwareRequestTypeDef


@sagemaker.operation
async def update_cluster_software(ctx: Context, req: "UpdateClusterSoftwareRequestTypeDef") -> dict[str, Any]:
    asked: Any = req.get("InstanceGroups", ())
    intent = SoftwareIntent(
        groups=[(one["InstanceGroupName"], one.get("ImageReleaseVersion")) for one in asked],
        image_id=req.get("ImageId"),
        config=req.get("DeploymentConfig"),
    )
    cluster = await ctx.service.db.run(software.update, ctx.scope, req["ClusterName"], intent, ctx.service.policy)
    return {"ClusterArn": cluster.arn}
