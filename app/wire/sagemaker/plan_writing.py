"""Training plans as answers. The output shape drops what it does not have, so a dict may say more."""

from typing import Any

from app import catalog
from app.core.offerings import Block, dollars
from app.core.plans import Extension, Plan, Reserved, plan_arn, reserved_arn, server_id
from app.core.scope import Scope
from app.core.times import WorldTime
from app.usecases.offerings import Question, Quoted, QuotedExtension
from app.usecases.plans import Seen

_HOUR_MS = 3_600_000
_MINUTE_MS = 60_000


def _duration(milliseconds: int) -> dict[str, int]:
    hours, rest = divmod(milliseconds, _HOUR_MS)
    return {"DurationHours": hours, "DurationMinutes": rest // _MINUTE_MS}


def _money(micro_usd: int) -> dict[str, str]:
    return {"UpfrontFee": dollars(micro_usd), "CurrencyCode": "USD"}


def _zone_id(name: str, region: str) -> str | None:
    return next((zone.id for zone in catalog.zones(region) if zone.name == name), None)


def offering(quoted: Quoted, question: Question) -> dict[str, Any]:
    """A member of TrainingPlanOfferings."""
    offer = quoted.offer
    return {
        "TrainingPlanOfferingId": quoted.offering_id,
        "TargetResources": [offer.target],
        "RequestedStartTimeAfter": question.earliest,
        "RequestedEndTimeBefore": question.latest_end,
        **_duration(sum(block.milliseconds for block in offer.blocks)),
        **_money(quoted.fee),
        "ReservedCapacityOfferings": [_block(quoted, block) for block in offer.blocks],
    }


def _block(quoted: Quoted, block: Block) -> dict[str, Any]:
    machines = quoted.offer.machines
    return {
        **_kind(machines.ultra_type, machines.ultra_count),
        "InstanceType": machines.instance_type,
        "InstanceCount": machines.count,
        "AvailabilityZone": quoted.offer.zone,
        **_duration(block.milliseconds),
        "StartTime": block.starts_at,
        "EndTime": block.ends_at,
    }


def _kind(ultra_type: str, ultra_count: int) -> dict[str, Any]:
    if not ultra_count:
        return {"ReservedCapacityType": "Instance"}
    return {"ReservedCapacityType": "UltraServer", "UltraServerType": ultra_type, "UltraServerCount": ultra_count}


def extension_offering(quoted: QuotedExtension) -> dict[str, Any]:
    """A member of TrainingPlanExtensionOfferings."""
    offer = quoted.offer
    hours = Block(offer.starts_at, offer.ends_at).milliseconds // _HOUR_MS
    return {
        "TrainingPlanExtensionOfferingId": quoted.offering_id,
        "AvailabilityZone": quoted.zone,
        "StartDate": offer.starts_at,
        "EndDate": offer.ends_at,
        "DurationHours": hours,
        **_money(quoted.fee),
    }


def extension(one: Extension, plan: Plan, scope: Scope, now: WorldTime) -> dict[str, Any]:
    """A member of TrainingPlanExtensions."""
    return {
        "TrainingPlanExtensionOfferingId": one.offering_id,
        "ExtendedAt": one.extended_at,
        "StartDate": one.starts_at,
        "EndDate": one.ends_at,
        "Status": one.status(now),
        "PaymentStatus": one.payment,
        "AvailabilityZone": plan.zone,
        "AvailabilityZoneId": _zone_id(plan.zone, scope.region),
        "DurationHours": Block(one.starts_at, one.ends_at).milliseconds // _HOUR_MS,
        **_money(one.fee),
    }


def plan_details(seen: Seen, scope: Scope) -> dict[str, Any]:
    """The answer of DescribeTrainingPlan, and a member of TrainingPlanSummaries."""
    plan = seen.plan
    held = sum(seen.held(one) for one in plan.reserved)
    return {
        "TrainingPlanArn": plan_arn(scope.region, scope.account, plan.name),
        "TrainingPlanName": plan.name,
        "Status": plan.status(seen.now),
        "StatusMessage": plan.failure if plan.status(seen.now) == "Failed" else None,
        **_duration(plan.milliseconds),
        "StartTime": plan.starts_at,
        "EndTime": plan.ends_at,
        **_money(plan.fee),
        "TotalInstanceCount": plan.total,
        "AvailableInstanceCount": plan.usable - held if seen.alive else 0,
        "InUseInstanceCount": held,
        "UnhealthyInstanceCount": sum(seen.unhealthy(one) for one in plan.reserved),
        "AvailableSpareInstanceCount": plan.spares * plan.ultra_count if seen.alive else 0,
        "TotalUltraServerCount": plan.ultra_count or None,
        "TargetResources": [plan.target],
        "ReservedCapacitySummaries": [_summary(seen, one, scope) for one in plan.reserved],
    }


def _summary(seen: Seen, one: Reserved, scope: Scope) -> dict[str, Any]:
    plan = seen.plan
    return {
        "ReservedCapacityArn": reserved_arn(scope.region, scope.account, one.reservation_id),
        **_kind(plan.ultra_type, plan.ultra_count),
        "InstanceType": plan.instance_type,
        "TotalInstanceCount": plan.total,
        "Status": plan.reserved_status(one, seen.now),
        "AvailabilityZone": plan.zone,
        "AvailabilityZoneId": _zone_id(plan.zone, scope.region),
        **_duration(Block(one.starts_at, one.ends_at).milliseconds),
        "StartTime": one.starts_at,
        "EndTime": one.ends_at,
    }


def reserved_details(seen: Seen, one: Reserved, scope: Scope) -> dict[str, Any]:
    """The answer of DescribeReservedCapacity."""
    plan = seen.plan
    alive = plan.reserved_status(one, seen.now) in ("Scheduled", "Active")
    servers = {
        "UltraServerType": plan.ultra_type,
        "InstanceType": plan.instance_type,
        "UltraServerCount": plan.ultra_count,
        "AvailableSpareInstanceCount": plan.spares * plan.ultra_count if alive else 0,
        "UnhealthyInstanceCount": seen.unhealthy(one),
    }
    return {
        **_summary(seen, one, scope),
        "AvailableInstanceCount": plan.usable - seen.held(one) if alive else 0,
        "InUseInstanceCount": seen.held(one),
        "UltraServerSummary": servers if plan.ultra_count else None,
    }


def ultra_server(seen: Seen, one: Reserved, number: int) -> dict[str, Any]:
    """A member of UltraServers. Nothing is known of the health of one that is not in use yet or any more (chosen)."""
    plan = seen.plan
    instances = plan.total // plan.ultra_count
    use = seen.of_server(one, number)
    status = plan.reserved_status(one, seen.now)
    alive = status in ("Scheduled", "Active")
    health = "Impaired" if use.unhealthy else "OK"
    return {
        "UltraServerId": server_id(seen.seed, one.reservation_id, number),
        "UltraServerType": plan.ultra_type,
        "AvailabilityZone": plan.zone,
        "InstanceType": plan.instance_type,
        "TotalInstanceCount": instances,
        "ConfiguredSpareInstanceCount": plan.spares,
        "AvailableInstanceCount": instances - plan.spares - use.held if alive else 0,
        "InUseInstanceCount": use.held,
        "AvailableSpareInstanceCount": plan.spares if alive else 0,
        "UnhealthyInstanceCount": use.unhealthy,
        "HealthStatus": health if status == "Active" else "Insufficient-Data",
    }
