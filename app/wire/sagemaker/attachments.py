"""AttachClusterNodeVolume, DetachClusterNodeVolume, AttachClusterNodeNetworkInterface."""

from typing import TYPE_CHECKING, Any

from app.core.attachments import Volume
from app.core.ids import cluster_arn
from app.core.scope import Scope
from app.usecases import attachments
from app.wire.aws.registry import Context
from app.wire.sagemaker import sagemaker

if TYPE_CHECKING:
    from types_boto3_sagemaker.type_defs import (
        AttachClusterNodeVolumeRequestTypeDef,
        DetachClusterNodeVolumeRequestTypeDef,
    )


@sagemaker.operation
async def attach_cluster_node_volume(ctx: Context, req: "AttachClusterNodeVolumeRequestTypeDef") -> dict[str, Any]:
    volume, status = await ctx.service.db.run(
        attachments.attach_volume,
        ctx.scope,
        req["ClusterArn"],
        req["NodeId"],
        req["VolumeId"],
        ctx.service.policy,
    )
    return _attachment(ctx.scope, volume, status)


@sagemaker.operation
async def detach_cluster_node_volume(ctx: Context, req: "DetachClusterNodeVolumeRequestTypeDef") -> dict[str, Any]:
    volume, status = await ctx.service.db.run(
        attachments.detach_volume,
        ctx.scope,
        req["ClusterArn"],
        req["NodeId"],
        req["VolumeId"],
        ctx.service.policy,
    )
    return _attachment(ctx.scope, volume, status)


@sagemaker.operation
async def attach_cluster_node_network_interface(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    cluster, interface = await ctx.service.db.run(
        attachments.attach_interface,
        ctx.scope,
        req["ClusterName"],
        req["NodeId"],
        req["NetworkInterfaceId"],
        ctx.service.policy,
    )
    return {
        "ClusterArn": cluster.arn,
        "NodeId": interface.instance_id,
        "NetworkInterfaceId": interface.interface_id,
        "AttachmentId": interface.attachment_id,
    }


def _attachment(scope: Scope, volume: Volume, status: str) -> dict[str, Any]:
    return {
        "ClusterArn": cluster_arn(scope.region, scope.account, volume.cluster_id),
        "NodeId": volume.instance_id,
        "VolumeId": volume.volume_id,
        "AttachTime": volume.attach_requested_at,
        "Status": status,
        "DeviceName": volume.device,
    }
