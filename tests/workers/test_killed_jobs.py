"""`kill -9` of reconcilers while jobs come, run, fail, are preempted and go."""

from functools import partial

from app.settings import Settings
from tests.job_balance import job_balance
from tests.job_deeds import H100, VERBS, JobDeeds
from tests.jobs import LOCATION
from tests.kit import Running, TestWorld
from tests.workers.storm import Load, kill_workers

KILLS = 25
CLIENTS = 2


def busy(deeds: JobDeeds) -> None:
    """Whatever there is to do."""
    deeds.do(deeds.draw.choice(VERBS))


def test_twenty_five_kills_while_jobs_run(settings: Settings, remote: Running) -> None:
    """RL-1, RL-5: two reconcilers and two clients; machines, quotas, bills and logs add up, and every job ends."""
    world = remote.world(frozen=False, rate=60.0)
    world.capacity(H100, 6, region=LOCATION)
    clients = [JobDeeds(world, seed) for seed in range(CLIENTS)]
    loads = [Load(partial(busy, one), one.draw) for one in clients]
    kill_workers(world, settings, loads, KILLS)
    assert world.control("GET", "status")["failing"] == []
    world.advance(0)
    job_balance(world)
    clients[0].calm()
    clients[0].lift_quotas()
    world.capacity(H100, None, region=LOCATION)
    world.advance(hours=24 * 10)
    checked = job_balance(world)
    print(f"{sum(one.done for one in clients)} deeds; checked {checked}")
    assert checked["jobs"] > 10
    assert checked["intervals"] > 10
    assert {one["ended_at"] is None for one in _jobs(world)} == {False}


def _jobs(world: TestWorld) -> list[dict[str, object]]:
    found: list[dict[str, object]] = world.http.get(f"{world.base}/_windtunnel/worlds/{world.name}/export").json()[
        "tables"
    ]["custom_job"]
    return found
