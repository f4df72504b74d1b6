"""Fleets whose GPUs are split by compute quotas."""

from app.core.scheduling import tree
from app.core.scheduling.quota import Quota
from app.core.scheduling.quotas import set_quotas
from tests.core.scheduling import Kind, Lab, Policy


def team(name: str, gpus: int, borrow_limit: int = 0, weight: int = 1, **more: bool) -> Quota:
    """A quota that lends, and whose work yields to higher priority, unless told otherwise."""
    return Quota(name, gpus, borrow_limit=borrow_limit, weight=weight, **more)


def fleet(
    *quotas: Quota,
    nodes: int = 2,
    policy: Policy | None = None,
    fair_share: bool = True,
    idle_sharing: bool = False,
) -> Lab:
    """A fleet of so many nodes with eight GPUs each, and with these quotas."""
    lab = Lab(nodes, 8, policy)
    for name in "ab":
        tree.delete_budget(lab.state, name, 0)
    set_quotas(lab.state, quotas, 0, fair_share=fair_share, idle_sharing=idle_sharing)
    return lab


def put(lab: Lab, name: str, leaf: str | None, gpus: int = 8, replicas: int = 1, **more: int | bool | Kind) -> None:
    """It is submitted, without a minimum runtime unless one is given, and a pass follows."""
    lab.submit(name, leaf, gpus, replicas, **{"min_runtime": 0, **more})
    lab.step()
    lab.now += 1000


def standing(lab: Lab) -> dict[str, str]:
    """What each workload does, and as what."""
    kinds = {True: "funded", False: "borrowed"}
    return {
        name: f"{workload.status} {kinds[workload.funded]}" if workload.places else str(workload.status)
        for name, workload in lab.state.workloads.items()
    }
