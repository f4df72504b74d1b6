"""Training plans and their reserved capacity: search, buy, extend, describe, list."""

from typing import TYPE_CHECKING, Any

from app.core.times import from_millis, to_millis
from app.usecases import offerings, plans
from app.usecases.requests import tags_of
from app.wire.aws.registry import Context
from app.wire.sagemaker import sagemaker
from app.wire.sagemaker.paging import Pager
from app.wire.sagemaker.plan_writing import (
    extension,
    extension_offering,
    offering,
    plan_details,
    reserved_details,
    ultra_server,
)

if TYPE_CHECKING:
    from types_boto3_sagemaker.type_defs import (
        CreateTrainingPlanRequestTypeDef,
        DescribeReservedCapacityRequestTypeDef,
        DescribeTrainingPlanRequestTypeDef,
        ExtendTrainingPlanRequestTypeDef,
    )

_SERVERS_A_PAGE = 10
"""The model's default for ListUltraServersByReservedCapacity."""


@sagemaker.operation
async def search_training_plan_offerings(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    """With TrainingPlanArn it finds extensions of that plan, else plans."""
    question = offerings.Question(
        instance_type=req.get("InstanceType"),
        count=req.get("InstanceCount"),
        ultra_type=req.get("UltraServerType"),
        ultra_count=req.get("UltraServerCount"),
        targets=req.get("TargetResources", ()),
        hours=req.get("DurationHours"),
        earliest=req.get("StartTimeAfter"),
        latest_end=req.get("EndTimeBefore"),
        plan_arn=req.get("TrainingPlanArn"),
    )
    async with ctx.service.db.connection() as connection:
        if question.plan_arn is not None:
            more = await offerings.search_extensions(connection, ctx.scope, question)
            found = [extension_offering(one) for one in more]
            return {"TrainingPlanOfferings": [], "TrainingPlanExtensionOfferings": found}
        offered = await offerings.search(connection, ctx.scope, question)
    return {"TrainingPlanOfferings": [offering(one, question) for one in offered]}


@sagemaker.operation
async def create_training_plan(ctx: Context, req: "CreateTrainingPlanRequestTypeDef") -> dict[str, Any]:
    arn = await ctx.service.db.run(
        plans.create,
        ctx.scope,
        req["TrainingPlanName"],
        req["TrainingPlanOfferingId"],
        req.get("SpareInstanceCountPerUltraServer"),
        tags_of(req.get("Tags", ())),
    )
    return {"TrainingPlanArn": arn}


@sagemaker.operation
async def describe_training_plan(ctx: Context, req: "DescribeTrainingPlanRequestTypeDef") -> dict[str, Any]:
    async with ctx.service.db.connection() as connection:
        seen = await plans.describe(connection, ctx.scope, req["TrainingPlanName"])
    return plan_details(seen, ctx.scope)


@sagemaker.operation
async def list_training_plans(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    """By start time, the earliest first, unless the request says otherwise (chosen). Filters of one name are an or."""
    pager = Pager(ctx.scope, "ListTrainingPlans", req)
    sort = req.get("SortBy", "StartTime")
    after = pager.position
    if after is not None and sort == "StartTime":
        after = [from_millis(after[0]), after[1]]
    async with ctx.service.db.connection() as connection:
        found = await plans.page(
            connection,
            ctx.scope,
            sort=sort,
            descending=req.get("SortOrder") == "Descending",
            after=after,
            limit=pager.size + 1,
            starts_after=req.get("StartTimeAfter"),
            starts_before=req.get("StartTimeBefore"),
            statuses=[one["Value"] for one in req["Filters"]] if "Filters" in req else None,
        )

    def position(seen: plans.Seen) -> tuple[Any, str]:
        plan = seen.plan
        values = {"TrainingPlanName": plan.name, "Status": plan.status(seen.now)}
        return values.get(sort, to_millis(plan.starts_at)), plan.name

    shown, token = pager.cut(found, position)
    return {"TrainingPlanSummaries": [plan_details(one, ctx.scope) for one in shown], "NextToken": token}


@sagemaker.operation
async def extend_training_plan(ctx: Context, req: "ExtendTrainingPlanRequestTypeDef") -> dict[str, Any]:
    offering_id = req["TrainingPlanExtensionOfferingId"]
    plan, bought, now = await ctx.service.db.run(plans.extend, ctx.scope, offering_id, ctx.service.policy)
    return {"TrainingPlanExtensions": [extension(one, plan, ctx.scope, now) for one in bought]}


@sagemaker.operation
async def describe_training_plan_extension_history(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    """Oldest first."""
    pager = Pager(ctx.scope, "DescribeTrainingPlanExtensionHistory", req)
    behind = pager.position[0] if pager.position else 0
    async with ctx.service.db.connection() as connection:
        seen, found = await plans.history(connection, ctx.scope, req["TrainingPlanArn"], behind, pager.size + 1)
    shown, token = pager.cut(found, lambda last: [last.number])
    told = [extension(one, seen.plan, ctx.scope, seen.now) for one in shown]
    return {"TrainingPlanExtensions": told, "NextToken": token}


@sagemaker.operation
async def describe_reserved_capacity(ctx: Context, req: "DescribeReservedCapacityRequestTypeDef") -> dict[str, Any]:
    async with ctx.service.db.connection() as connection:
        seen, one = await plans.describe_reserved(connection, ctx.scope, req["ReservedCapacityArn"])
    return reserved_details(seen, one, ctx.scope)


@sagemaker.operation
async def list_ultra_servers_by_reserved_capacity(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    """None for reserved capacity of single instances."""
    pager = Pager(ctx.scope, "ListUltraServersByReservedCapacity", req)
    pager.size = req.get("MaxResults", _SERVERS_A_PAGE)
    behind: int = pager.position[0] if pager.position else 0
    async with ctx.service.db.connection() as connection:
        seen, one = await plans.describe_reserved(connection, ctx.scope, req["ReservedCapacityArn"])
    numbers = list(range(behind + 1, seen.plan.ultra_count + 1))[: pager.size + 1]
    shown, token = pager.cut(numbers, lambda last: [last])
    return {"UltraServers": [ultra_server(seen, one, number) for number in shown], "NextToken": token}
