"""A job's worker and the cluster's node that it is on: bound to it, and bereft of it (VX-24)."""

from app.core.replica import LOSABLE, Replica, Worker
from app.core.times import WorldTime
from app.core.values import evolve

NODE = "node"
"""What a worker is lost to when its node is no longer Running."""


def is_hole(replica: Replica) -> bool:
    """The worker waits for a node in the place of one that was lost."""
    return replica.status is Worker.WAITING and replica.node is None and replica.stop_at is None


def bound(replica: Replica, node: str, at: WorldTime) -> Replica:
    """The worker with a node; one that waits for it starts on it at `at`."""
    facts = {"node": node, "machines": replica.machines + 1}
    return evolve(replica, **facts, launch_after=at) if is_hole(replica) else evolve(replica, **facts)


def bereft(replica: Replica, at: WorldTime) -> Replica:
    """The worker without its node, which left Running at `at`: whatever ran there is lost (VX-7)."""
    if replica.status in LOSABLE:
        return evolve(replica, lost_at=min(replica.lost_at or at, at), lost_to=NODE)
    return evolve(replica, node=None, launch_after=None)
