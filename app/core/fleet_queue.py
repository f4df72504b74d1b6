"""Who of those that wait for a cluster's GPUs gets them: first come, first served, whole gangs (VX-24)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from app.core.placing import Hold, Host, Need, Reason, Room


@dataclass(frozen=True, slots=True)
class Gang:
    """What of a workload has to be placed at one instant."""

    name: str
    needs: Sequence[Need]

    @property
    def models(self) -> list[str]:
        return sorted({need.model or "" for need in self.needs if need.gpus})


@dataclass(slots=True)
class Service:
    """Gangs are served one after the other: `placed` says on which nodes, `held` why not, by the gang's name.

    Who has to wait keeps those behind him from the GPU models that he waits for, unless the cluster's nodes could not
    hold him though all were ready and free.
    """

    hosts: Sequence[Host]
    placed: dict[str, dict[str, str]] = field(default_factory=dict)
    held: dict[str, Hold] = field(default_factory=dict)
    _room: Room = field(init=False)
    _first: dict[str, str] = field(default_factory=dict)
    """Who waits at the head for a GPU model."""

    def __post_init__(self) -> None:
        self._room = Room(self.hosts)

    @property
    def is_over(self) -> bool:
        """True when somebody waits for each of the cluster's models, so that nobody behind gets anything."""
        models = {host.model for host in self.hosts if host.model is not None}
        return bool(models) and models <= self._first.keys()

    def fill(self, gangs: Iterable[Gang]) -> None:
        """Find nodes for lost replicas of running gangs, one by one; they go ahead of all who wait."""
        for gang in gangs:
            for need in gang.needs:
                self._serve(gang, [need])

    def start(self, gangs: Iterable[Gang]) -> None:
        """Find nodes for whole gangs, in the order given."""
        for gang in gangs:
            head = self._head(gang)
            if head is None:
                self._serve(gang, gang.needs)
            else:
                self.held[gang.name] = Hold(Reason.BEHIND_OTHERS, f"{head} came first and waits for the same GPUs.")

    def _head(self, gang: Gang) -> str | None:
        """Whom the gang is behind; one without GPUs waits only when nobody gets anything any more."""
        if not gang.models:
            return next(iter(self._first.values())) if self.is_over else None
        return next((self._first[model] for model in gang.models if model in self._first), None)

    def _serve(self, gang: Gang, needs: Sequence[Need]) -> None:
        answer = self._room.place(needs)
        if not isinstance(answer, Hold):
            self.placed.setdefault(gang.name, {}).update(answer)
            return
        self.held[gang.name] = answer
        if not answer.hopeless:
            for model in gang.models:
                self._first.setdefault(model, gang.name)
