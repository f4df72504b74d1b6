"""Instantaneous max-min by hand."""

from app.simulate.workloads import Job, Share
from tests.simulate.driving import HOUR, SECOND, drive, job, trace_of


def _pairs(leaf: str, count: int, **more: object) -> list[Job]:
    return [job(f"{leaf}{number}", leaf, 2, **more) for number in range(count)]


def test_what_was_borrowed_is_taken_back_and_no_more() -> None:
    """Sixteen GPUs, weights 3:1. b runs on all of them; a's share of what both want is twelve: six of eight leave."""
    shares = [Share("a", "", 3), Share("b", "", 1)]
    jobs = [*_pairs("b", 8, runtime=9 * HOUR), *_pairs("a", 8, submit=HOUR, runtime=9 * HOUR)]
    driver = drive("maxmin", trace_of(jobs, 2, shares), until=2 * HOUR)
    assert len([name for _, name in driver.stopped if name.startswith("b")]) == 6
    assert len(driver.stopped) == 6
    assert sorted(name[0] for name in driver.running) == ["a"] * 6 + ["b"] * 2


def test_a_gang_that_would_leave_its_owner_short_stays() -> None:
    """Weights 1:1 on sixteen GPUs: b's share is eight, its gang of twelve cannot shrink to it, so a has four."""
    shares = [Share("a", "", 1), Share("b", "", 1)]
    jobs = [job("gang", "b", 4, 3, runtime=9 * HOUR), *_pairs("a", 8, submit=HOUR, runtime=9 * HOUR)]
    driver = drive("maxmin", trace_of(jobs, 2, shares), until=2 * HOUR)
    assert driver.stopped == []
    assert sorted(driver.running) == ["a0", "a1", "gang"]


def test_siblings_share_what_their_parent_has() -> None:
    """a:b as 1:1, a1:a2 as 1:3, everybody wants everything of sixteen GPUs: 2, 6 and 8."""
    shares = [Share("a", "", 1), Share("b", "", 1), Share("a1", "a", 1), Share("a2", "a", 3)]
    jobs = [*_pairs("a1", 8), *_pairs("a2", 8), *_pairs("b", 8)]
    driver = drive("maxmin", trace_of(jobs, 2, shares), until=0)
    held = {
        leaf: sum(gang.job.size for gang in driver.running.values() if gang.job.leaf == leaf)
        for leaf in ["a1", "a2", "b"]
    }
    assert held == {"a1": 2, "a2": 6, "b": 8}


def test_it_has_no_memory() -> None:
    """b had the whole fleet for a day, and gets half of it from the first second in which both want it."""
    shares = [Share("a", "", 1), Share("b", "", 1)]
    jobs = [
        job("before", "b", 8, 2, runtime=24 * HOUR),
        *_pairs("a", 8, submit=SECOND, min_runtime=24 * HOUR),
        *[job(f"later{number}", "b", 2, submit=SECOND) for number in range(8)],
    ]
    driver = drive("maxmin", trace_of(jobs, 2, shares), until=24 * HOUR)
    assert sorted(gang.job.leaf or "" for gang in driver.running.values()) == ["a"] * 4 + ["b"] * 4
