"""How KAI divides GPUs among the queues of one level (its plugin proportion, resource_division)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Asking:
    """A queue: GPUs that it deserves and requests; `usage` is GPU-milliseconds in the window."""

    id: str
    weight: int
    deserved: int
    requested: int
    usage: int


def divide(amount: int, queues: Sequence[Asking], available: int, k: int) -> list[int]:
    """GPUs for each queue. `available`: GPU-milliseconds of the whole fleet in the window; `k` in thousandths.

    First what is deserved and requested. The rest in rounds, by max(0, W + k (W - U)): W is the weight over those of
    all queues that are not satisfied, U the queue's use over what was available. Parts are rounded down to whole GPUs,
    and what that leaves goes one by one to the largest remainders. If all weights are zero, nobody has the rest.
    """
    shares = [min(queue.deserved, queue.requested) for queue in queues]
    left = amount - sum(shares)
    remainders: dict[int, Fraction] = {}
    again = left > 0
    while again and left > 0:
        again = False
        parts = _parts(left, queues, shares, available, k)
        for i, part in parts.items():
            wanted = queues[i].requested - shares[i]
            if wanted <= part:
                given = wanted
                remainders.pop(i, None)
            else:
                given = int(part)
                if part > given:
                    remainders[i] = part - given
            shares[i] += given
            left -= given
            again = again or wanted < part
    for i in sorted(remainders, key=lambda i: (-remainders[i], queues[i].id))[: max(0, left)]:
        shares[i] += 1
    return shares


def _parts(left: int, queues: Sequence[Asking], shares: list[int], available: int, k: int) -> dict[int, Fraction]:
    """What each queue that is not satisfied would have of what is left."""
    hungry = [i for i, queue in enumerate(queues) if queue.requested > shares[i]]
    weights = sum(queues[i].weight for i in hungry)
    if not weights:
        return {}
    scale = available or 1
    pulls = {i: max(0, queues[i].weight * (1_000 + k) * scale - k * weights * queues[i].usage) for i in hungry}
    total = sum(pulls.values())
    return {i: Fraction(left * pulls[i], total) for i in hungry if queues[i].weight} if total else {}
