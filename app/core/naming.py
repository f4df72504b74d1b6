"""What clusters and their nodes are called: the vendor's hashed ids, or names as ids, as moto has them."""

from collections.abc import Callable
from dataclasses import dataclass

from app.core import ids
from app.core.chance import digest


@dataclass(frozen=True, slots=True)
class Naming:
    """One way to form ids. `cluster_id` is asked as `ids.cluster_id` is; the others of a seed, a cluster's id, a
    group's name and position, and a node's ordinal; `instance_id` also of the node's logical id and launch attempt."""

    cluster_id: Callable[[int, str, str, str, int], str]
    logical_id: Callable[[int, str, str, int, int], str]
    instance_id: Callable[[int, str, str, int, str, int], str]


def _vendor_logical_id(seed: int, cluster: str, group: str, position: int, ordinal: int) -> str:
    return ids.logical_id(seed, cluster, group, ordinal)


def _vendor_instance_id(seed: int, cluster: str, group: str, ordinal: int, logical: str, attempt: int) -> str:
    return ids.instance_id(seed, cluster, logical, attempt)


def _name_as_id(seed: int, account: str, region: str, name: str, generation: int) -> str:
    return name


def _ordered_logical_id(seed: int, cluster: str, group: str, position: int, ordinal: int) -> str:
    """A UUID whose order is that of groups and of nodes in them: what came to be at once is listed in it."""
    mixed = digest(seed, f"{cluster}/{group}", "ordered-logical-id", 5).hex()
    return f"{position:08x}-{mixed[:4]}-4{mixed[4:7]}-8{mixed[7:10]}-{ordinal:012x}"


def _numbered_instance_id(seed: int, cluster: str, group: str, ordinal: int, logical: str, attempt: int) -> str:
    """Counted from 0 in each group; a node that is launched again keeps it."""
    return f"{group}-{ordinal - 1}"


VENDOR = Naming(ids.cluster_id, _vendor_logical_id, _vendor_instance_id)
MOTO = Naming(_name_as_id, _ordered_logical_id, _numbered_instance_id)


def naming_of(cluster_id: str, name: str) -> Naming:
    """How a cluster's nodes are called, as its own id tells: it keeps that, whatever becomes of its world's profile."""
    return MOTO if cluster_id == name else VENDOR
