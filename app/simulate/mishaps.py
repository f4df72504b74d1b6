"""When nodes of the generated fleet break."""

from collections.abc import Sequence

from app.core.scheduling.policy import DAY
from app.simulate.asking import SECOND
from app.simulate.distributions import WHOLE, Curve, Stream
from app.simulate.lab import Lab
from app.simulate.workloads import Mishap, Node

APART = 2 * DAY
"""Between two mishaps of one node: the first is over by then."""


def mishaps(lab: Lab, seed: int, nodes: Sequence[Node]) -> tuple[Mishap, ...]:
    """By time; each node breaks on a day by the same chance."""
    shortest, longest = lab.repair
    repairs = Curve((shortest // SECOND, longest // SECOND), (0, WHOLE))
    found = []
    for node in nodes:
        stream, free = Stream(seed, f"mishaps/{node.id}"), 0
        for day in range(lab.ends // DAY):
            at = day * DAY + stream.below(DAY // SECOND) * SECOND
            gone, repair = stream.share() < lab.gone, repairs.quantile(stream.share()) * SECOND
            if stream.share() < lab.mishaps and at >= free:
                found.append(Mishap(at, node.id, gone, repair))
                free = at + APART
    return tuple(sorted(found, key=lambda mishap: (mishap.at, mishap.node)))
