"""Machines of training plans, beside those of the on-demand pools: who may take one, and when all are taken back.

A plan has capacity of its own, so nothing here competes with the pools (chosen).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.core.capacity import Grant, Want
from app.core.cluster import Group
from app.core.errors import Invalid
from app.core.instance import Instance
from app.core.plans import HYPERPOD, Plan
from app.core.times import WorldTime
from app.core.values import evolve


@dataclass(slots=True)
class Reserve:
    """The plans of a cluster's groups during one decision, by ARN, and what is held of their reserved capacities by
    (reservation id, UltraServer number or None). It counts what is taken and given back; `freed` are plans."""

    plans: Mapping[str, Plan] = field(default_factory=dict)
    held: dict[tuple[str, int | None], int] = field(default_factory=dict)
    freed: set[str] = field(default_factory=set)

    def take(self, arn: str, want: Want, at: WorldTime) -> Grant | None:
        """Grant a machine of the plan, or None when it has none to give at that moment."""
        plan = self.plans.get(arn)
        if plan is None or plan.zone not in want.zones or plan.instance_type not in want.instance_types:
            return None
        block = plan.open_block(at)
        if block is None:
            return None
        servers: Sequence[int | None] = range(1, plan.ultra_count + 1) if plan.ultra_count else (None,)
        each = plan.usable // len(servers)
        for server in servers:
            key = (block.reservation_id, server)
            if self.held.get(key, 0) < each:
                self.held[key] = self.held.get(key, 0) + 1
                return Grant(plan.instance_type, plan.zone, None, block.reservation_id, server)
        return None

    def give_back(self, node: Instance) -> None:
        """The node's machine is the plan's again."""
        key = (node.reservation or "", node.server)
        self.held[key] = self.held.get(key, 0) - 1
        self.freed |= {arn for arn, plan in self.plans.items() if node.reservation in plan.reservation_ids}

    def sooner(self, arn: str, node: Instance, at: WorldTime) -> Instance:
        """The refused node, which tries again when the plan opens, if that is earlier than its next attempt; never
        again when the plan is over, or a world would try for years what cannot come (chosen).

        No pool's machine is waited for, so none wakes it."""
        plan = self.plans.get(arn)
        if plan is not None and plan.status(at) in ("Expired", "Failed"):
            return evolve(node, launch_after=None, waiting_since=None)
        opens = None if plan is None else plan.next_opening(at)
        times = [time for time in (node.launch_after, opens) if time is not None]
        return evolve(node, launch_after=min(times, default=None), waiting_since=None)

    def over(self, at: WorldTime) -> list[str]:
        """The reserved capacities whose machines nobody may keep any longer."""
        return [one.reservation_id for plan in self.plans.values() for one in plan.reserved if one.reclaim_at <= at]

    def next_reclaim(self, at: WorldTime) -> WorldTime | None:
        times = [plan.next_reclaim(at) for plan in self.plans.values()]
        return min((time for time in times if time is not None), default=None)


def check_plan(group: Group, arn: str, plan: Plan | None, now: WorldTime) -> None:
    """Refuse a group that its plan cannot serve."""
    where = f"Instance group '{group.name}': training plan '{arn}'"
    if plan is None:
        raise Invalid(f"{where} does not exist in this account and region. ListTrainingPlans shows those that do.")
    status = plan.status(now)
    if status not in ("Scheduled", "Active"):
        raise Invalid(f"{where} is {status}; it must be Scheduled or Active. Use another plan.")
    if plan.target != HYPERPOD:
        raise Invalid(f"{where} is for {plan.target} only. Use a plan whose TargetResources is {HYPERPOD}.")
    if set(group.instance_types) != {plan.instance_type}:
        raise Invalid(f"{where} has {plan.instance_type}, not {', '.join(group.instance_types)}. Use the plan's type.")
    if plan.zone not in group.zones:
        raise Invalid(
            f"{where} lies in {plan.zone}, but the group's subnets in {', '.join(group.zones)}. Give the group a "
            f"subnet in {plan.zone} with OverrideVpcConfig."
        )


def check_room(arn: str, plan: Plan, wanted: int) -> None:
    """Refuse more instances on a plan than it has."""
    if wanted > plan.usable:
        raise Invalid(
            f"Training plan '{arn}' has {plan.usable} instances, and its instance groups would want {wanted}. Ask for "
            "less, or buy another plan."
        )


def placed(group: Group, plan: Plan | None) -> Group:
    """A group without subnets of its own lies where its plan does (chosen)."""
    return evolve(group, zones=(plan.zone,)) if plan is not None and not group.own_network else group
