"""ListClusterEvents and DescribeClusterEvent, for continuous clusters."""

from typing import TYPE_CHECKING, Any

from app.core.times import from_millis, to_millis
from app.usecases import history
from app.usecases.event_records import event_details, event_summary
from app.wire.aws.registry import Context
from app.wire.sagemaker import sagemaker
from app.wire.sagemaker.paging import Pager

if TYPE_CHECKING:
    from types_boto3_sagemaker.type_defs import DescribeClusterEventRequestTypeDef


@sagemaker.operation
async def list_cluster_events(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    pager = Pager(ctx.scope, "ListClusterEvents", req)
    after = None if pager.position is None else (from_millis(pager.position[0]), pager.position[1])
    async with ctx.service.db.connection() as connection:
        cluster, seed = await history.teller(connection, ctx.scope, req["ClusterName"])
        found, operations = await history.page(
            connection,
            ctx.scope,
            cluster.cluster_id,
            descending=req.get("SortOrder", "Descending") == "Descending",
            after=after,
            limit=pager.size + 1,
            group=req.get("InstanceGroupName"),
            instance_id=req.get("NodeId"),
            resource=req.get("ResourceType"),
            operation_id=req.get("OperationId"),
            since=req.get("EventTimeAfter"),
            until=req.get("EventTimeBefore"),
        )
    shown, token = pager.cut(found, lambda last: (to_millis(last[1].at), last[0]))
    told = [event_summary(cluster, seq, event, seed) | {"OperationId": operations.get(seq)} for seq, event in shown]
    return {"Events": told, "NextToken": token}


@sagemaker.operation
async def describe_cluster_event(ctx: Context, req: "DescribeClusterEventRequestTypeDef") -> dict[str, Any]:
    async with ctx.service.db.connection() as connection:
        cluster, seq, event, seed = await history.event(connection, ctx.scope, req["ClusterName"], req["EventId"])
        operations = await history.operations_of(connection, ctx.scope, cluster.cluster_id, [(seq, event)])
    return {"EventDetails": event_details(cluster, seq, event, seed) | {"OperationId": operations.get(seq)}}
