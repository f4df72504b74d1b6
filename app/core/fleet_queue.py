"""Who of those that wait for a cluster's GPUs gets them: first come, first served, whole gangs (VX-24)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from app.core.placing import Hold, Host, Need, Placement, Reason, Room


@dataclass(frozen=True, slots=True)
class Gang:
    """What of a workload has to be placed at one instant."""

    name: str
    needs: Sequence[Need]

    @property
    def models(self) -> list[str]:
        return sorted({need.model or "" for need in self.needs if need.gpus})


@dataclass(frozen=True, slots=True)
class Served:
    """Who was placed and where, and why the others wait: by the gang's name."""

    placed: Mapping[str, Placement]
    held: Mapping[str, Hold]


def serve(hosts: Iterable[Host], holes: Iterable[Gang], waiting: Iterable[Gang]) -> Served:
    """Lost replicas of running gangs go ahead of all, one by one; then whole gangs in the order given.

    Who has to wait keeps those behind him from the GPU models that he waits for, unless the cluster's nodes could not
    hold him though all were ready and free.
    """
    counter = _Counter(Room(hosts))
    for gang in holes:
        for need in gang.needs:
            counter.serve(gang, [need])
    for gang in waiting:
        if not counter.is_behind(gang):
            counter.serve(gang, gang.needs)
    return Served(counter.placed, counter.held)


@dataclass(slots=True)
class _Counter:
    """Where gangs are served one after the other; `first` names who waits at the head for a GPU model."""

    room: Room
    placed: dict[str, dict[str, str]] = field(default_factory=dict)
    held: dict[str, Hold] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def is_behind(self, gang: Gang) -> bool:
        head = next((self.first[model] for model in gang.models if model in self.first), None)
        if head is not None:
            self.held[gang.name] = Hold(Reason.BEHIND_OTHERS, f"{head} came first and waits for the same GPUs.")
        return head is not None

    def serve(self, gang: Gang, needs: Sequence[Need]) -> None:
        answer = self.room.place(needs)
        if not isinstance(answer, Hold):
            self.placed.setdefault(gang.name, {}).update(answer)
            return
        self.held[gang.name] = answer
        if not answer.hopeless:
            for model in gang.models:
                self.first.setdefault(model, gang.name)
