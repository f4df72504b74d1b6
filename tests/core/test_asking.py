"""How workers get their machines, and who may ask again when some come free (VX-2, VX-12)."""

from app.core.asking import Waiting, woken
from app.core.replica import Worker
from tests.core.builders import REALISTIC, at
from tests.core.work import Play, job
from tests.jobs import gpus, pool


def waiting(name: str, workers: int, strategy: str = "STANDARD") -> Waiting:
    return Waiting("1", name, strategy, workers, number=1)


def asked(free: int, *queue: Waiting) -> str:
    return "".join(one.job_id for one in woken(queue, free))


def test_as_many_ask_as_there_are_machines() -> None:
    assert asked(3, waiting("a", 2), waiting("b", 2), waiting("c", 1)) == "ab"
    assert asked(0, waiting("a", 1)) == ""


def test_a_gang_asks_when_there_is_enough_and_keeps_nobody_from_asking() -> None:
    """VX-12: else two free machines would wait for a gang of eight that they are not enough for."""
    gang = waiting("g", 8, "FLEX_START")
    assert asked(2, gang, waiting("a", 1), waiting("b", 1), waiting("c", 1)) == "ab"
    assert asked(8, gang, waiting("a", 1)) == "ga"


def test_workers_ask_for_what_there_is_and_the_others_wait() -> None:
    """VX-2: as many as possible at once."""
    play = Play(job(pool(RUN_SECONDS="900"), gpus(3)), limits={"a3-highgpu-8g": 2}).until(at(1))
    assert [one.status is Worker.WAITING for one in play.replicas] == [False, False, False, True]
    assert play.worker("workerpool1-2").waiting_since == at(0)


def test_machines_spread_over_the_zones() -> None:
    play = Play(job(pool(), pool(3)), timings=REALISTIC).until(at(1))
    assert {one.zone for one in play.replicas} == {"us-central1-a", "us-central1-b"}


def test_all_together_or_none() -> None:
    """VX-12: nothing is taken, and nothing counts as freed, while there is not enough."""
    scheduling = {"strategy": "FLEX_START"}
    play = Play(job(gpus(), gpus(2), scheduling=scheduling), limits={"a3-highgpu-8g": 2}).until(at(60))
    assert (play.around.stock.deltas, play.around.stock.freed) == ({}, {})
    enough = Play(job(gpus(), gpus(2), scheduling=scheduling), limits={"a3-highgpu-8g": 3}).until(at(1))
    assert {one.status for one in enough.replicas} == {Worker.PROVISIONING}
