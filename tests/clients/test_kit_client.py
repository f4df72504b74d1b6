"""The test kit's client: what a test does with a world (CT-15)."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.clients.drivers import PATIENCE, ROOT
from tests.clients.stranger import wait_for_the_end
from tests.kit import Running, slurm, workers
from windtunnel_testkit import (
    NotSettled,
    NotStarted,
    Refused,
    Service,
    StillWaiting,
    Unreachable,
    World,
    running,
    times,
)

P5 = "ml.p5.48xlarge"
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def kit(service: Running) -> Service:
    """The client, told an address that names a world."""
    return Service.connect(f"{service.base}/w/main")


@pytest.fixture
def own(kit: Service) -> Iterator[World]:
    """A world with two machines."""
    with kit.world(seed=5) as made:
        made.capacity(P5, 2)
        yield made


@pytest.fixture
def sagemaker(own: World) -> Iterator[Any]:
    client = own.boto3()
    yield client
    client.close()


def count(sagemaker: Any) -> int:
    """Workers that are there."""
    groups = sagemaker.describe_cluster(ClusterName="demo")["InstanceGroups"]
    return next(each["CurrentCount"] for each in groups if each["InstanceGroupName"] == "workers")


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("90s", 90), ("1h30m", 5400), ("2d", 172_800), ("1.5 h", 5400), (0, 0), (2.5, 2.5), (timedelta(minutes=1), 60)],
)
def test_durations(written: times.Duration, seconds: float) -> None:
    assert times.seconds(written) == seconds


@pytest.mark.parametrize("written", ["", "3", "h", "1h 30", "-1h", -1, timedelta(seconds=-1)])
def test_what_is_no_duration(written: times.Duration) -> None:
    with pytest.raises(ValueError, match=r"no duration|never goes back"):
        times.seconds(written)


def test_a_datetime_needs_a_zone() -> None:
    with pytest.raises(ValueError, match="time zone"):
        times.written(datetime(2026, 1, 1))  # noqa: DTZ001
    assert times.written(BEGAN) == "2026-01-01T00:00:00Z"


def test_the_clock(own: World) -> None:
    """CT-1: by a duration, to an instant, to the next event; freeze, resume and rate."""
    assert (own.now(), own.seed) == (BEGAN, 5)
    assert own.advance("1h", minutes=30).after == BEGAN + timedelta(hours=1, minutes=30)
    assert own.advance_to(BEGAN + timedelta(hours=2)).before == BEGAN + timedelta(hours=1, minutes=30)
    with pytest.raises(Refused, match="Time never goes backward"):
        own.advance_to("2025-01-01T00:00:00Z")
    own.rate(1000)
    own.resume()
    assert own.clock()["frozen"] is False
    own.freeze()
    assert (own.clock()["frozen"], own.clock()["rate"]) == (True, 1000.0)


def test_until_a_condition_holds(own: World, sagemaker: Any) -> None:
    """It is asked after each event, so the clock stands at the very instant; what the condition gave is the answer."""
    sagemaker.create_cluster(**slurm(workers(2)))
    asked: list[datetime] = []

    def both() -> int:
        asked.append(own.now())
        return count(sagemaker) == 2 and 42

    assert own.advance_until(both, "1h") == 42
    assert asked[-1] == own.now() < BEGAN + timedelta(minutes=1)
    assert asked == sorted(asked)
    again = own.now()
    assert own.advance_until(lambda: "at once", "1h") == "at once"
    assert own.now() == again
    sagemaker.delete_cluster(ClusterName="demo")
    own.advance()
    assert own.advance_next().after > again


def test_step_by_step(own: World) -> None:
    """The last step is as long as the limit lets it."""
    steps: list[datetime] = []
    with pytest.raises(StillWaiting, match="Nothing waits"):
        own.advance_until(lambda: steps.append(own.now()), "25m", step="10m")
    assert [(each - BEGAN).seconds // 60 for each in steps] == [0, 0, 10, 20, 25]


def test_what_still_waits_is_told(own: World, sagemaker: Any) -> None:
    """With the reasons of the cluster, of the workload and of the job."""
    sagemaker.create_cluster(**slurm(workers(3)))
    own.advance("1m")
    own.submit("train", 8, replicas=3)
    own.capacity("n1-standard-4", 0)
    pool = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}
    spec = {"workerPoolSpecs": [{**pool, "containerSpec": {"imageUri": "gcr.io/demo/train"}}]}
    path = "/v1/projects/p1/locations/us-central1/customJobs"
    own._address.send("POST", path, {"displayName": "job", "jobSpec": spec})

    def complete() -> bool:
        return count(sagemaker) == 3

    with pytest.raises(StillWaiting) as caught:
        own.advance_until(complete, "10m")
    told = str(caught.value)
    assert told.startswith("complete did not hold in 0:10:00 of the world's time (2026-01-01T00:01:00Z to")
    assert "waiting: cluster demo: InService (workers 2 of 3 InService;" in told
    assert "failed)" in told
    assert "waiting: job job: JOB_STATE_PENDING" in told
    assert "waiting: workload train: fleet-too-small (More nodes, or fewer replicas.)" in told
    assert own.why("train")["reason"] == own.queue()[0]["reason"] == "fleet-too-small"
    moments = own.timeline()
    assert moments == sorted(moments, key=lambda each: each.at)
    assert {each.source for each in moments} == {"cluster", "job"}


def test_an_advance_that_stops_early_is_an_error(own: World, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"before": "2026-01-01T00:00:00.000Z", "after": "2026-01-01T00:00:00.000Z", "counts": {}}
    monkeypatch.setattr(own._address, "control", lambda *_: answer | {"settled": False, "reason": "max_events"})
    with pytest.raises(NotSettled, match="max_events"):
        own.advance("1h")


def test_a_fault_holds_inside_its_block(own: World, sagemaker: Any) -> None:
    """CT-3."""
    with own.fault("script-failed", group="workers", after=BEGAN) as fault:
        sagemaker.create_cluster(**slurm(workers(1)))
        own.advance("1m")
        assert fault.hits > 0
        assert count(sagemaker) == 0
    assert fault.hits == 0  # the rule is gone
    own.advance("1h")
    assert count(sagemaker) == 1
    assert any(each.source == "fault" and each.level == "Error" for each in own.timeline())
    fault.remove()  # once more does no harm
    with pytest.raises(Refused, match="effect"):
        own.fault("no-such-effect")


def test_prices_and_bills(own: World, sagemaker: Any) -> None:
    """CT-5, CT-6."""
    own.price(P5, "55.04")
    own.price("ml.c5.xlarge", 0)
    with pytest.raises(ValueError, match="micro-dollar"):
        own.price(P5, "0.00000001")
    sagemaker.create_cluster(**slurm(workers(2)))
    own.advance("1m")
    before = own.bill("cluster", cluster="demo").usd
    own.advance("1h")
    bill = own.bill("cluster", cluster="demo", intervals=True)
    assert bill.usd - before == Decimal("110.08")
    assert bill.as_of == own.now()
    assert bill.total_micro_usd == sum(line["micro_usd"] for line in bill.lines)
    assert own.bill(until=BEGAN).lines == []


def test_copies(kit: Service, own: World) -> None:
    """CT-2: snapshots, forks, reset, drop."""
    own.snapshot("before")
    own.advance("1h")
    with own.fork() as fork:
        fork.advance("1d")
        assert (fork.now() - own.now(), fork.seed) == (timedelta(days=1), own.seed)
    own.restore("before")
    assert own.now() == BEGAN
    own.reset()
    assert own.control("GET", "capacity")["pools"] == []
    names = {each.name for each in kit.worlds()}
    assert own.name in names
    assert fork.name not in names
    own.drop()
    own.drop()
    with pytest.raises(Refused, match="There is no world"):
        own.now()


def test_clients_are_bound_to_the_world(own: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """CT-0: of any account and region; a child process finds it by its variables; the SDK of Google is initialised."""
    there = own.boto3("sagemaker", account="444455556666", region="us-east-1")
    arn = there.create_cluster(**slurm(workers(1)))["ClusterArn"]
    assert arn.startswith("arn:aws:sagemaker:us-east-1:444455556666:cluster/")
    there.close()
    for variable, value in own.environment().items():
        monkeypatch.setenv(variable, value)
    child = boto3.session.Session().client("sagemaker")
    assert child.meta.endpoint_url == own.endpoint
    assert child.list_clusters()["ClusterSummaries"] == []
    child.close()
    aiplatform = own.vertex("p2", "europe-west4")
    assert aiplatform.CustomJob.list() == []
    assert aiplatform.initializer.global_config.location == "europe-west4"


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINDTUNNEL_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(Unreachable, match=r"no answer from http://127\.0\.0\.1:9.*windtunnel up"):
        Service.open()


def test_the_command_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As given, by WINDTUNNEL_COMMAND, from PATH."""
    script = tmp_path / "windtunnel"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert running.command() == [str(script)]
    monkeypatch.setenv("WINDTUNNEL_COMMAND", f"{sys.executable} -m app.cli")
    assert running.command() == [sys.executable, "-m", "app.cli"]
    assert running.command(str(script)) == [str(script)]


def test_a_service_that_comes_too_late_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of it is left, neither process nor folder."""
    monkeypatch.setattr(running, "START_SECONDS", 0.2)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    note = tmp_path / "note"
    with pytest.raises(NotStarted, match=r"was not ready within 0 s\. It printed:\nbeginning$"):
        Service.start(command=f"sh -c 'echo beginning; echo $$ >{note}; exec sleep 1000'")
    assert [path.name for path in tmp_path.iterdir()] == ["note"]
    wait_for_the_end(int(note.read_text()))


def test_the_example_with_google_s_sdk(service: Running, tmp_path: Path) -> None:
    """A launcher, its lost machine and its shortage: in the environment that has the SDK."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "windtunnel_testkit.plugin"]
    told = {"PYTHONPATH": str(ROOT / "clients" / "python" / "src"), "WINDTUNNEL_ENDPOINT": service.base}
    ran = subprocess.run(
        [*words, "-p", "no:asyncio", str(ROOT / "examples" / "testing" / "test_launcher.py")],
        cwd=tmp_path,
        env={**os.environ, **told},
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "5 passed" in ran.stdout
