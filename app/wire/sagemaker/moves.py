"""MoveClusterNodes."""

from typing import Any

from app.usecases import moves
from app.usecases.moves import Wish
from app.wire.aws.registry import Context
from app.wire.sagemaker import sagemaker


@sagemaker.operation
async def move_cluster_nodes(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    wish = Wish(
        source=(req["SourceClusterArn"], req["SourceInstanceGroupName"]),
        target=(req["TargetClusterArn"], req["TargetInstanceGroupName"]),
        instance_ids=tuple(req.get("NodeIds", ())),
        logical_ids=tuple(req.get("NodeLogicalIds", ())),
        count=req.get("InstanceCount"),
    )
    token = req.get("ClientToken") or None
    answer: dict[str, Any] = await ctx.service.db.run(moves.move, ctx.scope, wish, token, ctx.service.policy)
    return answer
