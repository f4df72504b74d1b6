"""How trials report, stop and end, from what their custom jobs do (VX-21)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from app.core.early_stopping import Rule, Verdict, rule_of
from app.core.job import JobState
from app.core.job_errors import CANCELLED, INTERNAL, INVALID_ARGUMENT
from app.core.reports import Measurement, Metric, Program, program_of, report_ms, reports
from app.core.times import WorldTime, after, millis
from app.core.tuning import Trial, TrialState, Tuning, trial_state

STOPPED = "The trial was stopped before it had reported every metric."
JOB_CANCELLED = "The trial's custom job was cancelled."


@dataclass(frozen=True, slots=True)
class Run:
    """What the custom job of a trial does: its primary replica has saved `saved_ms` of its work, and goes on since
    `run_at` if it runs."""

    ended_at: WorldTime | None = None
    shown_at: WorldTime | None = None
    outcome: str | None = None
    error_code: int | None = None
    error_message: str | None = None
    run_at: WorldTime | None = None
    saved_ms: int = 0

    def done_ms(self, now: WorldTime) -> int:
        """How much of its work it has done by `now`."""
        return self.saved_ms + (0 if self.run_at is None else max(0, millis(self.run_at, now)))

    def over(self, now: WorldTime) -> bool:
        """True when its end is told: the trial ends then, too."""
        return self.shown_at is not None and self.shown_at <= now


@dataclass(frozen=True, slots=True)
class Laboratory:
    """What is the same for all trials of a study: what a simulated program reports, which runs for `whole_ms`."""

    tuning_id: str
    seed: int
    program: Program
    whole_ms: int
    the_best: bool
    """The best measurement of a trial counts, or else the last."""
    rule: Rule | None

    @property
    def metrics(self) -> Sequence[Metric]:
        return self.program.metrics

    def reported(self, trial: Trial, run: Run, now: WorldTime) -> tuple[Measurement, ...]:
        """What the trial has reported by `now`; simulated unless its program really runs."""
        if trial.measurements is not None or trial.parameters is None:
            return trial.measurements or ()
        done = self.whole_ms if run.outcome == JobState.SUCCEEDED else run.done_ms(now)
        subject = f"{self.tuning_id}/{trial.number}"
        return reports(self.program, self.seed, subject, trial.parameters, done, self.whole_ms)

    def stopping(self, trial: Trial, run: Run, now: WorldTime) -> Trial:
        """The trial, which is to stop now, with what it has reported."""
        return replace(trial, stop_at=now, measurements=self.reported(trial, run, now))

    def _stopped(self, trial: Trial, run: Run, now: WorldTime, verdict: Verdict) -> Trial:
        found = self.stopping(trial, run, now)
        told = found.measurements
        if verdict.predicted is None or not told or self.rule is None:
            return found
        return replace(found, measurements=(*told, self.rule.predicted(self.metrics[0], verdict.predicted, told[-1])))

    def ended(self, trial: Trial, run: Run, now: WorldTime) -> Trial:
        """The trial after its job has ended."""
        told = self.reported(trial, run, now)
        found = replace(trial, ended_at=run.ended_at, measurements=told)
        if run.outcome != JobState.SUCCEEDED and trial.stop_at is None:
            reason = run.error_message if run.outcome == JobState.FAILED else JOB_CANCELLED
            return infeasible(found, reason or "", run.error_code or CANCELLED)
        final = _final(self.metrics, told, the_best=self.the_best)
        if final is not None:
            return replace(found, outcome=TrialState.SUCCEEDED, final=final)
        if run.outcome == JobState.SUCCEEDED:
            names = ", ".join(metric.metric_id for metric in self.metrics)
            return infeasible(found, f"The trial ended without a measurement of {names}.", INVALID_ARGUMENT)
        return infeasible(found, STOPPED, CANCELLED)

    def stopped_early(self, trials: Sequence[Trial], runs: Mapping[int, Run], now: WorldTime) -> Iterator[Trial]:
        """The trials that the study's rule stops now; `runs` are of the open ones, by number."""
        if self.rule is None:
            return
        rule, metric = self.rule, self.metrics[0]
        completed = [
            rule.curve(metric, one.measurements or ()) for one in trials if one.outcome == TrialState.SUCCEEDED
        ]
        for trial in trials:
            run = runs.get(trial.number)
            if run is None or run.ended_at is not None or trial_state(trial) != TrialState.ACTIVE:
                continue
            verdict = rule.judge(rule.curve(metric, self.reported(trial, run, now)), completed)
            if verdict.stop:
                yield self._stopped(trial, run, now, verdict)

    def next_look(self, trial: Trial, run: Run, now: WorldTime) -> WorldTime | None:
        """When the trial next needs looking at: its end is told, or, where a rule may stop it, it reports once more."""
        if run.shown_at is not None:
            return run.shown_at
        if self.rule is None or run.run_at is None or trial_state(trial) != TrialState.ACTIVE:
            return None
        done = run.done_ms(now)
        steps = (report_ms(self.program, step, self.whole_ms) for step in range(1, self.program.steps + 1))
        ahead = next((moment for moment in steps if moment > done), None)
        return None if ahead is None else after(run.run_at, timedelta(milliseconds=ahead - run.saved_ms))


def laboratory(tuning: Tuning, seed: int, whole: timedelta) -> Laboratory:
    """Of a study without problems; its programs run for `whole`."""
    spec = tuning.study_spec
    return Laboratory(
        tuning_id=tuning.tuning_id,
        seed=seed,
        program=program_of(tuning.trial_job_spec, spec),
        whole_ms=whole // timedelta(milliseconds=1),
        the_best=spec.get("measurementSelectionType") == "BEST_MEASUREMENT",
        rule=rule_of(spec),
    )


def infeasible(trial: Trial, reason: str, code: int) -> Trial:
    """The trial, done without a measurement that counts."""
    return replace(trial, outcome=TrialState.INFEASIBLE, reason=reason, error_code=code or INTERNAL)


def _final(metrics: Sequence[Metric], told: Sequence[Measurement], *, the_best: bool) -> Measurement | None:
    """Of the measurements that have every metric: the last, or the best by the first metric."""
    whole = [one for one in told if all(metric.metric_id in one.metrics for metric in metrics)]
    if not whole or not the_best:
        return whole[-1] if whole else None
    sign = 1 if metrics[0].maximize else -1
    return max(whole, key=lambda one: sign * one.metrics[metrics[0].metric_id])
