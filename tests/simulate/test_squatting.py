"""What the old policy invited: parked jobs and inflated priorities pay under it, and do not under budgets."""

from app.core.scheduling.policy import HOUR, MINUTE
from app.simulate.attacks import inflate, squat
from app.simulate.engine import run
from app.simulate.policies import POLICIES
from app.simulate.records import NEVER, Run
from app.simulate.settings import Settings
from app.simulate.workloads import Job, Node, Share, Trace

NODES = [Node(f"n{number}", 8) for number in range(4)]
HALVES = [Share("a", "", 1), Share("b", "", 1)]
ENDS = 48 * HOUR


def _trace(*jobs: Job) -> Trace:
    """Thirty-two GPUs, sixteen for each team."""
    return Trace("two teams", sorted(jobs, key=lambda job: (job.submit, job.id)), NODES, HALVES, 0, ENDS)


def _run(policy: str, trace: Trace) -> Run:
    return run(trace, POLICIES[policy](trace, Settings()), policy=policy)


def _wait(made: Run, name: str) -> int | None:
    """Until the first start; None: it never came."""
    for job, first in zip(made.trace.jobs, made.first_start, strict=True):
        if job.id == name:
            return None if first == NEVER else first - job.submit
    raise LookupError(name)


def _held(made: Run, prefix: str, begins: int) -> int:
    """GPU-hours that such jobs held from then on."""
    return (
        sum(
            gpus * max(0, end - max(start, begins))
            for number, gpus, start, end, _ in made.segments
            if made.trace.jobs[number].id.startswith(prefix)
        )
        // HOUR
    )


def _squatted() -> Trace:
    """Somebody of team a parks jobs on all that it has a right to; a mate comes at ten hours, and team b at a day."""
    mate = Job("mate", 10 * HOUR, 2 * HOUR, gpus=8, leaf="a", min_runtime=HOUR)
    others = [
        Job(f"b{number}", 24 * HOUR, 24 * HOUR, gpus=8, leaf="b", min_runtime=HOUR, checkpoint=HOUR)
        for number in range(4)
    ]
    return squat(_trace(mate, *others), "a", 16)


def test_who_parks_keeps_the_gpus_under_the_old_policy() -> None:
    """The team's cap is full of nothing: the mate never starts, and b, idle for a day, has its own cap and no more."""
    made = _run("priority", _squatted())
    assert _held(made, "squat", 0) == 16 * 48
    assert _wait(made, "mate") is None
    assert _held(made, "b", 24 * HOUR) == 16 * 24


def test_who_parks_pays_under_budgets() -> None:
    """FS-5, FS-8: protection ends after eight hours, the mate has fewer slices, and b was idle: both take the GPUs."""
    made = _run("budget", _squatted())
    wait = _wait(made, "mate")
    assert wait is not None
    assert wait <= 2 * MINUTE
    assert _held(made, "b", 24 * HOUR) > 24 * 24
    assert _held(made, "squat", 24 * HOUR) < 8 * 24


def _scavengers() -> Trace:
    """Both teams want more than their half: beside funded work, four-GPU jobs of an hour that ask for no budget."""
    return _trace(
        *[
            Job(f"{leaf}-free{number:02d}", number * 10 * MINUTE, HOUR, gpus=4, leaf=leaf)
            for leaf in ("a", "b")
            for number in range(120)
        ],
        *[
            Job(f"{leaf}{number}", number * 8 * HOUR, 8 * HOUR, gpus=8, leaf=leaf, min_runtime=HOUR, checkpoint=HOUR)
            for leaf in ("a", "b")
            for number in range(6)
        ],
    )


def _hours_of_a(policy: str, trace: Trace) -> int:
    return _held(_run(policy, trace), "a-free", 0)


def test_who_writes_high_on_everything_gets_more_under_the_old_policy() -> None:
    """Team b takes the idle GPUs from team a by a word; when both do it, neither has won anything."""
    honest = _hours_of_a("priority", _inflatable())
    assert _hours_of_a("priority", inflate(_inflatable(), ["b"])) < honest * 3 // 4
    assert _hours_of_a("priority", inflate(_inflatable())) == honest


def test_what_a_team_writes_on_its_jobs_moves_no_other_team_under_budgets() -> None:
    """FS-2: every job of team a starts in the same second, whatever team b writes."""
    honest, inflated = (_run("budget", trace) for trace in (_inflatable(), inflate(_inflatable(), ["b"])))
    names = [job.id for job in honest.trace.jobs if job.leaf == "a"]
    assert [_wait(honest, name) for name in names] == [_wait(inflated, name) for name in names]
    assert any(_wait(honest, name) for name in names)


def _inflatable() -> Trace:
    """Of each team one job says that it matters, so that there is a priority to inflate to."""
    trace = _scavengers()
    important = [Job(f"{leaf}-important", 0, HOUR, gpus=1, leaf=leaf, priority=2) for leaf in ("a", "b")]
    return _trace(*trace.jobs, *important)
