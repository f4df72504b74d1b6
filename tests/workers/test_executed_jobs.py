"""Jobs whose programs really run, as processes of this machine (VX-16)."""

import asyncio
import io
import json
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from app.settings import Settings
from app.store.embedded import EmbeddedPostgres
from tests.jobs import Jobs
from tests.kit import Running, TestWorld, serving
from tests.workers.audit import tables
from tests.workers.conftest import _database
from tests.workers.forked import Forked

PATIENCE = 40.0
OVER = ("SUCCEEDED", "FAILED", "CANCELLED")


@dataclass
class Lab:
    """A service that executes jobs: its API in this process, executor and reconciler by their ids."""

    running: Running
    executor: Forked


@pytest.fixture(scope="module")
def lab(postgres: EmbeddedPostgres) -> Iterator[Lab]:
    """On a database of its own: reconcilers of other tests would hold its programs for lost."""
    dsn = asyncio.run(_database(postgres.dsn, "executed"))
    settings = Settings(database_url=dsn, poll_seconds=0.05, execute_jobs=True, frozen=True)
    with serving(settings) as running:
        told = replace(settings, endpoint=running.base)
        processes = [Forked("executor", told), Forked("reconciler", told)]
        try:
            yield Lab(running, processes[0])
        finally:
            for one in processes:
                one.stop()


def until(holds: Callable[[], Any], what: str) -> Any:
    """What `holds` says, as soon as that is true."""
    deadline = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
    return found


def container(*command: str, env: dict[str, str] | None = None, replicas: int = 1) -> dict[str, Any]:
    variables = [{"name": name, "value": value} for name, value in (env or {}).items()]
    return {
        "machineSpec": {"machineType": "n1-standard-4"},
        "replicaCount": str(replicas),
        "containerSpec": {"imageUri": "gcr.io/p/train", "command": list(command), "env": variables},
    }


def python(code: str, *args: str, **facts: Any) -> dict[str, Any]:
    return container(sys.executable, "-c", code, *args, **facts)


def lines(world: TestWorld, task: str = "workerpool0-0") -> list[dict[str, Any]]:
    """What the task wrote, but for what the service itself says of it."""
    rows = sorted(tables(world)["log_line"], key=lambda row: (row["job_id"], row["seq"]))
    return [row for row in rows if row["task"] == task]


def texts(world: TestWorld, task: str = "workerpool0-0") -> list[str]:
    return [line["text"] for line in lines(world, task)]


def begin(jobs: Jobs, name: str) -> None:
    """Advance until all its workers run."""
    for _ in range(100):
        if jobs.state(name) == "RUNNING":
            return
        jobs.world.advance(1)
    raise AssertionError("it never runs")


def finish(jobs: Jobs, name: str) -> dict[str, Any]:
    """Advance until it has ended."""

    def ended() -> bool:
        jobs.world.advance(5)
        return jobs.state(name) in OVER

    until(ended, "it never ends")
    return jobs.get(name)


def test_a_program_finds_the_environment_of_the_service(lab: Lab) -> None:
    """VX-16: what the service sets, the spec's own variables, and nothing of ours; the exit is the world's now."""
    world = lab.running.world()
    jobs = Jobs(world)
    told = "import json, os; print(json.dumps(dict(os.environ)))"
    env = {"WHO": "$(CLOUD_ML_JOB_ID)/$(CLOUD_ML_NOTHING)/$$(WHO)"}
    body = {
        "displayName": "train",
        "jobSpec": {
            "workerPoolSpecs": [python(told, env=env), python(told, replicas=2)],
            "baseOutputDirectory": {"outputUriPrefix": "gs://bkt/out/"},
        },
    }
    name = str(jobs.call("POST", f"{jobs.parent}/customJobs", json=body).json()["name"])
    job = finish(jobs, name)
    assert job["state"] == "JOB_STATE_SUCCEEDED"
    [found] = [line["payload"] for line in lines(world) if line["payload"]]
    number = name.rpartition("/")[2]
    assert (found["CLOUD_ML_JOB_ID"], found["CLOUD_ML_PROJECT_ID"]) == (number, jobs.parent.split("/")[1])
    assert found["WHO"] == f"{number}/$(CLOUD_ML_NOTHING)/$(WHO)"
    assert (found["AIP_MODEL_DIR"], found["AIP_CHECKPOINT_DIR"]) == ("gs://bkt/out/model/", "gs://bkt/out/checkpoints/")
    assert not [variable for variable in found if variable.startswith("WINDTUNNEL_") or "DATABASE" in variable]
    spec, config = json.loads(found["CLUSTER_SPEC"]), json.loads(found["TF_CONFIG"])
    assert {pool: len(some) for pool, some in spec["cluster"].items()} == {"workerpool0": 1, "workerpool1": 2}
    assert spec["task"] == {"type": "workerpool0", "index": 0}
    assert spec["job"]["workerPoolSpecs"][1]["replicaCount"] == "2"
    addresses = [address for some in spec["cluster"].values() for address in some]
    assert len(set(addresses)) == 3
    assert all(address.startswith("127.0.0.1:") for address in addresses)
    assert config["cluster"] == {"chief": spec["cluster"]["workerpool0"], "worker": spec["cluster"]["workerpool1"]}


def test_a_program_that_fails(lab: Lab) -> None:
    """VX-16, VX-10: its code and what it wrote; one run, and no simulated end."""
    world = lab.running.world()
    jobs = Jobs(world)
    env = {"WINDTUNNEL_RUN_SECONDS": "1"}
    code = "import sys; print('began'); print('no data', file=sys.stderr); sys.exit(3)"
    job = finish(jobs, jobs.create(python(code, env=env)))
    assert job["state"] == "JOB_STATE_FAILED"
    assert job["error"]["message"] == (
        "The replica workerpool0-0 exited with a non-zero status of 3. Termination reason: Error."
    )
    written = [(line["text"], line["severity"]) for line in lines(world)]
    assert sorted(written[:2]) == [("began", "INFO"), ("no data", "ERROR")]
    assert written[2][0].startswith("Task completed. Exit code (3)")
    assert not tables(world)["execution"]


def package(uri: str, *args: str) -> dict[str, Any]:
    task = {
        "executorImageUri": "gcr.io/p/python",
        "packageUris": [uri],
        "pythonModule": "trainer.task",
        "args": list(args),
    }
    return {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1", "pythonPackageSpec": task}


@pytest.mark.parametrize(
    ("pool", "reason"),
    [
        (container(), "The container has no command"),
        (container("/no/such/program"), "'/no/such/program': No such file or directory"),
        (package("gs://no-such-bucket/x.tar.gz"), "bucket does not exist"),
    ],
)
def test_a_program_that_cannot_be_run(lab: Lab, pool: dict[str, Any], reason: str) -> None:
    """VX-16: a line says why, and the code is 127."""
    world = lab.running.world()
    jobs = Jobs(world)
    job = finish(jobs, jobs.create(pool))
    assert "non-zero status of 127" in job["error"]["message"]
    assert reason in texts(world)[0]


def test_a_cancelled_program_is_ended(lab: Lab) -> None:
    """VX-15, VX-16: SIGTERM first, for the program and its children; nothing is left."""
    world = lab.running.world()
    jobs = Jobs(world)
    code = (
        "import os, signal, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "def end(*_): print('saved', flush=True); os._exit(0)\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "print(os.getpid(), child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    name = jobs.create(python(code))
    begin(jobs, name)
    [pids] = until(lambda: texts(world), "it does not begin")
    jobs.cancel(name)
    world.advance(60)
    assert jobs.state(name) == "CANCELLED"
    until(lambda: not any(psutil.pid_exists(int(pid)) for pid in pids.split()), "its processes go on")
    until(lambda: not tables(world)["execution"], "its run is still known")
    assert "saved" in texts(world)


def test_a_killed_executor_loses_its_programs(lab: Lab, tmp_path: Path) -> None:
    """VX-16, VX-7: `kill -9` of the executor ends its programs; their workers are lost, and begin once more."""
    world = lab.running.world()
    jobs = Jobs(world)
    log = tmp_path / "runs"
    code = (
        "import os, pathlib, sys, time\n"
        "log = pathlib.Path(sys.argv[1])\n"
        "with log.open('a') as file: print(os.getpid(), file=file)\n"
        "time.sleep(600 if len(log.read_text().split()) == 1 else 0)\n"
    )
    name = jobs.create(python(code, str(log)))
    begin(jobs, name)
    pid = until(lambda: log.exists() and log.read_text().split(), "it does not begin")[0]
    lab.executor.kill()
    until(lambda: not psutil.pid_exists(int(pid)), "its program goes on")
    left = list(Path(tempfile.gettempdir()).glob("windtunnel-executor-*/workerpool0-0-*"))
    lab.executor.start()
    until(lambda: not tables(world)["execution"], "it is not missed")
    assert finish(jobs, name)["state"] == "JOB_STATE_SUCCEEDED"
    assert len(log.read_text().split()) == 2
    assert left
    until(lambda: not [path for path in left if path.exists()], "the next executor does not remove its files")
    assert "The machine of workerpool0-0 is lost (executor)." in texts(world, "service")


def test_a_copied_world_has_no_programs_of_the_first(lab: Lab) -> None:
    """VX-16: in a fork the worker is lost, while the first world's program goes on."""
    world = lab.running.world()
    jobs = Jobs(world)
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    name = jobs.create(python(code))
    begin(jobs, name)
    [pid] = until(lambda: texts(world), "it does not begin")
    answer = httpx.post(
        f"{lab.running.base}/_windtunnel/worlds", json={"name": f"{world.name}-f", "fork_of": world.name}
    )
    assert answer.is_success, answer.text
    fork = TestWorld(lab.running.base, f"{world.name}-f")
    until(lambda: fork.advance(1) and len(texts(fork)) > 1, "it does not begin again")
    assert "The machine of workerpool0-0 is lost (executor)." in texts(fork, "service")
    assert psutil.pid_exists(int(pid))
    for one in (fork, world):
        httpx.delete(f"{lab.running.base}/_windtunnel/worlds/{one.name}").raise_for_status()
    until(lambda: not psutil.pid_exists(int(pid)), "it goes on in a world that is gone")
    fork.close()


def archive(**files: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name.replace("__", "/") + ".py")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return packed.getvalue()


def upload(world: TestWorld, name: str, content: bytes) -> None:
    answer = world.http.post(
        f"{world.endpoint}/upload/storage/v1/b/bkt/o", params={"uploadType": "media", "name": name}, content=content
    )
    assert answer.is_success, answer.text


def test_a_python_package(lab: Lab) -> None:
    """VX-16: a source distribution in a bucket is unpacked, and its module run."""
    world = lab.running.world()
    jobs = Jobs(world)
    task = "import sys\nprint('args', *sys.argv[1:])\n"
    files = {"demo-0.1__setup": "", "demo-0.1__trainer____init": "", "demo-0.1__trainer__task": task}
    upload(world, "demo-0.1.tar.gz", archive(**files))
    assert finish(jobs, jobs.create(package("gs://bkt/demo-0.1.tar.gz", "--lr=0.1")))["state"] == "JOB_STATE_SUCCEEDED"
    assert texts(world)[0] == "args --lr=0.1"


def test_files_below_gcs(lab: Lab) -> None:
    """VX-16: what the command names below /gcs is there; what it writes there is in the bucket when it has ended."""
    world = lab.running.world()
    jobs = Jobs(world)
    upload(world, "data/in.txt", b"42")
    upload(world, "data/../../out.txt", b"no path")
    command = ("sh", "-c", "cat /gcs/bkt/data/in.txt && cp /gcs/bkt/data/in.txt /gcs/bkt/out/copy.txt")
    name = jobs.create(container(*command))
    assert finish(jobs, name)["state"] == "JOB_STATE_SUCCEEDED", texts(world)
    assert texts(world)[0] == "42"
    answer = world.http.get(f"{world.endpoint}/storage/v1/b/bkt/o/out%2Fcopy.txt", params={"alt": "media"})
    assert answer.content == b"42"


def test_a_trial_reports_what_its_program_writes(lab: Lab) -> None:
    """VX-21, VX-16: the metric file becomes measurements; the last that has every metric is final."""
    world = lab.running.world()
    jobs = Jobs(world)
    code = (
        "import json, os, sys\n"
        "os.makedirs(os.path.dirname(os.environ['CLOUD_ML_HP_METRIC_FILE']), exist_ok=True)\n"
        "with open(os.environ['CLOUD_ML_HP_METRIC_FILE'], 'w') as file:\n"
        "    for step in (1, 2):\n"
        "        told = {'global_step': str(step), 'accuracy': str(step / 4), 'trial': '1'}\n"
        "        print(json.dumps(told), file=file)\n"
        "print(sys.argv[1])\n"
    )
    body = {
        "displayName": "tune",
        "maxTrialCount": 1,
        "parallelTrialCount": 1,
        "studySpec": {
            "metrics": [{"metricId": "accuracy", "goal": "MAXIMIZE"}],
            "parameters": [{"parameterId": "lr", "doubleValueSpec": {"minValue": 0.1, "maxValue": 1}}],
        },
        "trialJobSpec": {"workerPoolSpecs": [python(code)]},
    }
    name = jobs.call("POST", f"{jobs.parent}/hyperparameterTuningJobs", json=body).json()["name"]
    job = finish(jobs, name)
    assert job["state"] == "JOB_STATE_SUCCEEDED"
    [trial] = job["trials"]
    assert trial["finalMeasurement"]["stepCount"] == "2"
    assert trial["finalMeasurement"]["metrics"] == [{"metricId": "accuracy", "value": 0.5}]
    assert texts(world)[0] == f"--lr={trial['parameters'][0]['value']}"


def test_a_job_larger_than_the_machine(lab: Lab) -> None:
    """VX-16: how many programs run at once is bounded, and a job of more says so."""
    world = lab.running.world()
    jobs = Jobs(world)
    job = finish(jobs, jobs.create(python(""), python("", replicas=40)))
    assert "non-zero status of 127" in job["error"]["message"]
    assert "execute_processes" in (texts(world) + texts(world, "workerpool1-0"))[0]


def test_output_is_bounded(lab: Lab) -> None:
    """VX-16: a line is cut, and what is no text is told as such."""
    world = lab.running.world()
    jobs = Jobs(world)
    code = (
        "import sys\n"
        'print(\'{"a": "\\\\ud800"}\', flush=True)\n'
        "sys.stdout.buffer.write(b'x' * 300_000 + b'\\n\\xff\\x00end')"
    )
    assert finish(jobs, jobs.create(python(code)))["state"] == "JOB_STATE_SUCCEEDED"
    found = texts(world)
    assert max(map(len, found)) <= 16 * 1024
    assert "\ufffdend" in found


def test_a_program_that_never_stops_writing(lab: Lab) -> None:
    """VX-16: so much is kept of a run, and cancel ends it though it does not listen."""
    world = lab.running.world()
    jobs = Jobs(world)
    name = jobs.create(container("sh", "-c", "trap '' TERM; while :; do yes; done"))
    begin(jobs, name)
    until(lambda: any("is not kept" in text for text in texts(world)), "it is not bounded")
    jobs.cancel(name)
    world.advance(60)
    assert jobs.state(name) == "CANCELLED"
    until(lambda: not tables(world)["execution"], "it goes on")
