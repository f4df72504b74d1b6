"""KAI's division and reclaim by hand."""

from app.simulate.policies.division import Asking, divide
from app.simulate.settings import Settings
from app.simulate.workloads import Job, Share
from tests.simulate.driving import DAY, HOUR, MINUTE, drive, job, trace_of


def _asking(*queues: tuple[int, int, int, int]) -> list[Asking]:
    """Weight, deserved, requested, usage of each."""
    return [Asking(f"q{number}", *queue) for number, queue in enumerate(queues)]


def test_past_use_lowers_a_weight_by_k() -> None:
    """Ten GPUs, W = 0.5 each; the first used half of all that there was, U = 0.5.

    k = 0: 0.5 to 0.5. k = 1: 0.5 to 1, so 3.33 and 6.67, down to 3 and 6, and the larger remainder has the last.
    k = 2: 0.5 to 1.5, so 2.5 and 7.5; equal remainders go by name.
    """
    queues = _asking((1, 0, 10, 50), (1, 0, 10, 0))
    assert divide(10, queues, 100, 0) == [5, 5]
    assert divide(10, queues, 100, 1_000) == [3, 7]
    assert divide(10, queues, 100, 2_000) == [3, 7]
    assert divide(11, queues, 100, 2_000) == [3, 8]


def test_what_is_deserved_comes_first_and_history_does_not_touch_it() -> None:
    """The first deserves six and has used everything: it has its six; W - U = 0.5 - 1, so of the other four nothing."""
    assert divide(10, _asking((1, 6, 10, 100), (1, 2, 10, 0)), 100, 1_000) == [6, 4]


def test_who_is_satisfied_drops_out_of_the_next_round() -> None:
    """Twelve by three is four each; the first wants two, and the two that it leaves are divided again."""
    assert divide(12, _asking((1, 0, 2, 0), (1, 0, 10, 0), (1, 0, 10, 0)), 0, 1_000) == [2, 5, 5]


def test_weight_zero_has_nothing_beyond_what_it_deserves() -> None:
    assert divide(10, _asking((0, 3, 10, 0), (1, 0, 2, 0)), 0, 0) == [3, 2]


HALVES = [Share("a", "", 1), Share("b", "", 1)]


def _pairs(leaf: str, count: int, **more: object) -> list[Job]:
    return [job(f"{leaf}{number}", leaf, 2, **more) for number in range(count)]


def _held(policy_settings: Settings, jobs: list[Job], until: int) -> dict[str, int]:
    driver = drive("kai", trace_of(jobs, 2, HALVES), policy_settings, until)
    found = {"a": 0, "b": 0}
    for gang in driver.running.values():
        found[gang.job.leaf or ""] += gang.job.size
    return found


def test_nothing_is_reclaimed_before_its_minimum_runtime() -> None:
    """b has all sixteen GPUs, each job for two hours at least; a comes at 1:00 and has its half at 2:00."""
    jobs = [
        *_pairs("b", 8, runtime=9 * HOUR, min_runtime=2 * HOUR),
        *_pairs("a", 8, submit=HOUR, runtime=9 * HOUR, min_runtime=9 * HOUR),
    ]
    level = Settings(k=0)
    assert _held(level, jobs, 2 * HOUR - MINUTE) == {"a": 0, "b": 16}
    assert _held(level, jobs, 2 * HOUR) == {"a": 8, "b": 8}


def test_who_was_idle_gets_more_afterwards() -> None:
    """b had everything for a day: U = 1 to 0. k = 0 halves; k = 1: 0.5 - 0.5 = 0 to 1, so b keeps nothing."""
    jobs = [
        *_pairs("b", 8, runtime=9 * DAY, min_runtime=HOUR),
        *_pairs("a", 8, submit=DAY, runtime=HOUR, min_runtime=HOUR),
    ]
    assert _held(Settings(k=0), jobs, DAY) == {"a": 8, "b": 8}
    assert _held(Settings(k=1_000), jobs, DAY) == {"a": 16, "b": 0}


def test_within_its_quota_a_queue_keeps_what_it_has() -> None:
    """As before, but each deserves its half: history moves nothing."""
    jobs = [
        *_pairs("b", 8, runtime=9 * DAY, min_runtime=HOUR),
        *_pairs("a", 8, submit=DAY, runtime=HOUR, min_runtime=HOUR),
    ]
    assert _held(Settings(k=1_000, quota=1_000), jobs, DAY) == {"a": 8, "b": 8}
