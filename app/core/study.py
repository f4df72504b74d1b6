"""What a tuning job does at one instant: which trials end, stop and begin, and whether it is over (VX-21)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from app.core.lifecycle import Delays
from app.core.times import WorldTime, after
from app.core.trials import Laboratory, Run
from app.core.tuning import Trial, TrialState, Tuning, end, trial_state, wanted, winding_down


class Study:
    """A tuning job and its trials while a pass thinks about them; `runs` are what the open ones do, by number."""

    def __init__(
        self,
        tuning: Tuning,
        trials: Iterable[Trial],
        runs: Mapping[int, Run],
        at: WorldTime,
        laboratory: Laboratory,
        delays: Delays,
    ) -> None:
        self.tuning, self._runs, self._at, self._laboratory, self._delays = tuning, runs, at, laboratory, delays
        self._trials = {trial.number: trial for trial in trials}
        self.changed: dict[int, Trial] = {}
        self.removed: list[int] = []
        self.stopped: list[Trial] = []
        """Their jobs are to be cancelled."""

    @property
    def trials(self) -> list[Trial]:
        """By number."""
        return [self._trials[number] for number in sorted(self._trials)]

    def put(self, trial: Trial) -> None:
        """The trial is so from now on."""
        self._trials[trial.number] = self.changed[trial.number] = trial

    def move(self) -> None:
        """Begin, end trials whose jobs have ended, stop those that are to stop, and ask for as many as are wanted."""
        if self.tuning.started_at is None and self.tuning.cancel_at is None and self._begins_at() <= self._at:
            self._become(started_at=self._at)
        for trial in self.trials:
            if trial.open and self._run(trial).over(self._at):
                self.put(self._laboratory.ended(trial, self._run(trial), self._at))
        self._stop()
        if self.tuning.started_at is not None:
            first = max(self._trials, default=0) + 1
            for number in range(first, first + wanted(self.tuning, self.trials)):
                self.put(Trial(number, self._at))

    def _stop(self) -> None:
        if winding_down(self.tuning, self.trials):
            self._withdraw()
            self.stopped = [self._laboratory.stopping(trial, self._run(trial), self._at) for trial in self._running()]
        else:
            self.stopped = list(self._laboratory.stopped_early(self.trials, self._runs, self._at))
        for trial in self.stopped:
            self.put(trial)

    def _running(self) -> list[Trial]:
        """Those that can be stopped: whose job has ended will be told to have."""
        active = (trial for trial in self.trials if trial_state(trial) == TrialState.ACTIVE)
        return [trial for trial in active if self._run(trial).ended_at is None]

    def _withdraw(self) -> None:
        """Nobody wants the trials that have no parameters yet."""
        for trial in self.trials:
            if trial_state(trial) == TrialState.REQUESTED:
                del self._trials[trial.number]
                self.changed.pop(trial.number, None)
                self.removed.append(trial.number)

    def ready(self) -> list[Trial]:
        """The trials that are to have parameters and a job now."""
        requested = (trial for trial in self.trials if trial_state(trial) == TrialState.REQUESTED)
        return [trial for trial in requested if self._suggested_at(trial) <= self._at]

    def exhaust(self) -> None:
        """There is nothing left to try."""
        self._become(exhausted_at=self._at)
        self._withdraw()

    def conclude(self) -> WorldTime | None:
        """End the job if it is over; or when it next needs looking at, None: when the job of a trial ends."""
        if self.changed or self.removed:
            self._become()
        if self.tuning.started_at is None and self.tuning.cancel_at is None:
            return self._begins_at()
        if (over := end(self.tuning, self.trials)) is not None:
            code, message = over.error or (None, None)
            self._become(ended_at=self._at, outcome=over.outcome, error_code=code, error_message=message)
            return None
        if wanted(self.tuning, self.trials):
            return self._at
        looks = [self._next_look(trial) for trial in self.trials if trial.open]
        return min((look for look in looks if look is not None), default=None)

    def _next_look(self, trial: Trial) -> WorldTime | None:
        if trial_state(trial) == TrialState.REQUESTED:
            return self._suggested_at(trial)
        return self._laboratory.next_look(trial, self._run(trial), self._at)

    def _begins_at(self) -> WorldTime:
        return after(self.tuning.created_at, self._delays["study"])

    def _suggested_at(self, trial: Trial) -> WorldTime:
        return after(trial.requested_at, self._delays["suggest"])

    def _run(self, trial: Trial) -> Run:
        return self._runs.get(trial.number, Run())

    def _become(self, **facts: Any) -> None:
        self.tuning = replace(self.tuning, updated_at=self._at, **facts)
