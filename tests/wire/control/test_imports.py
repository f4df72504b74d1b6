"""An export makes the same world again, and a forged one makes none (CT-2, CT-14)."""

import contextlib
import json
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from typing import Any

import httpx
import pytest

from app.wire.safety import MAX_UPLOAD
from tests.kit import Running, TestWorld, eks, login, slurm, workers

JSON = {"content-type": "application/json"}


def load(service: Running, name: str, content: bytes) -> httpx.Response:
    url = f"{service.base}/_windtunnel/worlds/import"
    return httpx.post(url, params={"name": name}, content=content, headers=JSON, timeout=120)


def export(service: Running, name: str) -> bytes:
    return httpx.get(f"{service.base}/_windtunnel/worlds/{name}/export").content


def tune(world: TestWorld, job: dict[str, Any]) -> None:
    """A tuning job behind a pipeline, of whose trials one has ended when five minutes have passed."""
    study = {
        "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
        "parameters": [{"parameterId": "lr", "doubleValueSpec": {"minValue": 1e-4, "maxValue": 1}}],
    }
    inputs = {"studySpec": study, "trialJobSpec": job, "maxTrialCount": 40, "parallelTrialCount": 1}
    task = "gs://google-cloud-aiplatform/schema/trainingjob/definition/hyperparameter_tuning_task_1.0.0.yaml"
    pipeline = {"displayName": "tune", "trainingTaskDefinition": task, "trainingTaskInputs": inputs}
    url = f"{world.endpoint}/v1/projects/42/locations/us-central1/trainingPipelines"
    assert world.http.post(url, json=pipeline).is_success


@pytest.fixture
def built(world: TestWorld) -> TestWorld:
    """A world with something in most of its tables."""
    world.capacity("ml.p5.48xlarge", 3)
    world.capacity("ml.p5.48xlarge", 4, at="2026-01-02T00:00:00Z")
    world.fault("boot-slow", group="workers", seconds=30, times=1)
    world.control("POST", "prices", json={"instance_type": "ml.p5.48xlarge", "micro_usd_per_hour": 5})
    world.control("POST", "quotas", json={"name": "ml.p5.48xlarge for cluster usage", "value": 80})
    world.capacity("a3-highgpu-8g", 4, zone="us-central1-a")
    world.control("POST", "prices", json={"instance_type": "a3-highgpu-8g/spot", "micro_usd_per_hour": 5})
    world.control("POST", "quotas", json={"name": "custom_model_training_cpus", "value": 8, "project": "42"})
    machine = {"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 2}
    pool = {"machineSpec": machine, "replicaCount": "1", "containerSpec": {"imageUri": "train"}}
    job = {"displayName": "train", "jobSpec": {"workerPoolSpecs": [pool], "scheduling": {"strategy": "SPOT"}}}
    assert world.http.post(f"{world.endpoint}/v1/projects/42/locations/us-central1/customJobs", json=job).is_success
    tune(world, {"workerPoolSpecs": [{**pool, "machineSpec": {"machineType": "n1-standard-4"}}]})
    world.sagemaker.create_cluster(**slurm(login(), workers(4)), Tags=[{"Key": "où", "Value": "ça"}])
    world.sagemaker.create_cluster(**slurm(workers(1), name="gone"))
    world.advance(minutes=5)
    world.sagemaker.delete_cluster(ClusterName="gone")
    world.advance(minutes=5)
    return world


@pytest.fixture
def imported(built: TestWorld, service: Running) -> Iterator[TestWorld]:
    name = f"{built.name}-again"
    answer = load(service, name, built.export())
    assert answer.status_code == 201, answer.text
    service.worlds.append(TestWorld(service.base, name))
    yield service.worlds[-1]


def test_an_export_makes_the_same_world(built: TestWorld, imported: TestWorld) -> None:
    """CT-2: export, import, export gives equal bytes, and both go on in the same way."""
    assert imported.export() == built.export()
    for world in (built, imported):
        world.sagemaker.create_cluster(**slurm(workers(2), name="later"))
        world.advance(hours=1)
    assert imported.export() == built.export()


def test_spaces_and_a_mark_at_the_front_do_not_matter(built: TestWorld, service: Running) -> None:
    """The command line indents what it prints, and some shells put a byte order mark before it."""
    for number, text in enumerate(
        (json.dumps(json.loads(built.export()), indent=2), "\ufeff" + built.export().decode())
    ):
        name = f"{built.name}-{number}"
        assert load(service, name, text.encode()).status_code == 201
        assert export(service, name) == built.export()


def test_a_running_world_goes_on_running(service: Running) -> None:
    """CT-2: the clock's state is part of the world."""
    world = service.world(frozen=False, rate=60.0, start="2026-02-01T00:00:00Z")
    answer = load(service, f"{world.name}-r", world.export()).json()
    assert (answer["frozen"], answer["rate"], answer["started_at"]) == (False, 60.0, "2026-02-01T00:00:00.000Z")
    assert answer["now"] >= "2026-02-01T00:00:00.000Z"


def test_a_newer_format_is_refused_with_both_versions(built: TestWorld, service: Running) -> None:
    """CT-2, RL-29."""
    content = json.loads(built.export()) | {"format": 2}
    refused = load(service, "newer", json.dumps(content, sort_keys=True).encode())
    assert refused.status_code == 400
    assert "format 2" in refused.json()["error"]["message"]
    assert "up to 1" in refused.json()["error"]["message"]


def test_an_export_of_an_earlier_version_is_read(built: TestWorld, service: Running) -> None:
    """RL-29: tables and columns that came later are empty, or as their defaults say."""
    content = json.loads(built.export())
    del content["tables"]["fault_hit"], content["tables"]["slurm_conf"]
    for rule in content["tables"]["fault_rule"]:
        for column in ("operation", "code", "message"):
            del rule[column]
    assert load(service, f"{built.name}-old", json.dumps(content, sort_keys=True).encode()).status_code == 201


def first(table: str, **values: Any) -> Callable[[dict[str, Any]], None]:
    """The forgery that gives the first row of a table other values."""
    return lambda content: content["tables"][table][0].update(values)


def twice(table: str) -> Callable[[dict[str, Any]], None]:
    return lambda content: content["tables"][table].append(content["tables"][table][0])


FORGED: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda c: c.update(format=0), "format is 0"),
    (lambda c: c.update(format="1"), "format is '1'"),
    (lambda c: c.update(format=True), "format is True"),
    (lambda c: c["tables"].update(zebra=[]), "no table 'zebra'"),
    (lambda c: c["tables"].update(idempotency=[]), "no table 'idempotency'"),
    (lambda c: c["tables"].update(pg_class=[{"relname": "x"}]), "no table 'pg_class'"),
    (lambda c: c["tables"].update(world=[]), "no table 'world'"),
    (lambda c: c["tables"].update(format=[]), "format is []"),
    (first("cluster", world="main"), "no column 'world'"),
    (first("cluster", not_before_wall=None), "no column 'not_before_wall'"),
    (first("cluster", bogus=1), "no column 'bogus'"),
    (lambda c: c["tables"]["cluster"][-1].pop("name"), "not all the same columns"),
    (lambda c: [row.pop("name") for row in c["tables"]["cluster"]], "lacks name"),
    (lambda c: c["tables"].update(tag=[7]), "lacks"),
    (first("cluster", account="root"), "does not know"),
    (first("cluster", orchestrator="k3s"), "does not know"),
    (first("cluster", spec=[]), "does not know"),
    (first("cluster", spec={"a": "\0"}), "no jsonb"),
    (first("cluster", spec={"a": 2**64}), "no jsonb"),
    (first("cluster", name=None), "must have a value"),
    (first("cluster", name=7), "no text"),
    (first("cluster", name="a\0b"), "no text"),
    (first("cluster", name="\ud800"), "no text"),
    (first("cluster", continuous=1), "no boolean"),
    (first("cluster", created_at="now"), "no timestamp"),
    (first("cluster", created_at="infinity"), "no timestamp"),
    (first("cluster", created_at="2026-01-01"), "no timestamp"),
    (first("cluster", created_at="9999-01-01T00:00:00.000Z"), "no timestamp"),
    (first("cluster", event_seq=2**63), "no bigint"),
    (first("cluster", event_seq=1.5), "no bigint"),
    (first("instance", status="Dancing"), "does not know"),
    (first("instance", instance_type="ml.huge"), "does not know"),
    (first("instance", ordinal=2**31), "no integer"),
    (first("instance_group", instance_types=[]), "does not know"),
    (first("instance_group", instance_types="ml.p5.48xlarge"), "no text[]"),
    (first("instance_group", spec={}), "does not know"),
    (first("instance_group", current=9), "ck_instance_group_counts"),
    (first("cluster_event", kind="dance"), "does not know"),
    (first("ledger", previous_number=7), "ck_ledger_chain"),
    (first("ledger", instance_type="n1-standard-4 + 2 x ml.huge"), "does not know"),
    (first("ledger", ended_at="1999-01-01T00:00:00.000Z"), "ck_ledger_forward"),
    (first("custom_job", spec={"workerPoolSpecs": [{}]}), "does not know"),
    (first("custom_job", spec={"workerPoolSpecs": [{"machineSpec": {"machineType": "ml.huge"}}]}), "does not know"),
    (first("custom_job", strategy="FREE"), "does not know"),
    (first("custom_job", outcome="JOB_STATE_BORED"), "does not know"),
    (first("custom_job", needs={"gpus": "many"}), "does not know"),
    (first("custom_job", labels=[]), "does not know"),
    (first("job_replica", status="Dancing"), "does not know"),
    (first("job_replica", machine_type="ml.huge"), "does not know"),
    (first("tuning_job", study_spec={"metrics": [7]}), "does not know"),
    (first("tuning_job", study_spec={"metrics": []}), "does not know"),
    (first("tuning_job", trial_job_spec={}), "does not know"),
    (first("tuning_job", outcome="JOB_STATE_BORED"), "does not know"),
    (first("trial", outcome="BORED"), "does not know"),
    (first("trial", parameters=[]), "does not know"),
    (first("trial", final={"step": 1, "metrics": {}}), "does not know"),
    (first("trial", measurements=[{"elapsed_ms": 1, "step": 1, "metrics": {"loss": "low"}}]), "does not know"),
    (first("training_pipeline", request=[]), "does not know"),
    (first("price_override", micro_usd_per_hour=-1), "ck_price_override_price"),
    (first("capacity_pool", used=-1), "ck_capacity_pool_counts"),
    (twice("tag"), "pk_tag"),
    (lambda c: c["world"].update(profile="slow"), "does not know"),
    (lambda c: c["world"].update(rate=0), "does not know"),
    (lambda c: c["world"].update(rate=1e300), "does not know"),
    (lambda c: c["world"].update(rate="1"), "no double precision"),
    (lambda c: c["world"].update(seed=-1), "does not know"),
    (lambda c: c["world"].update(now="2025-01-01T00:00:00.000Z"), "before it began"),
    (lambda c: c["world"].update(name="main"), "and no more"),
    (lambda c: c.update(world=[]), "no table 'world'"),
]


def test_a_forged_export_changes_nothing(built: TestWorld, service: Running) -> None:
    """CT-2: each is refused with the place and the reason, and no world is left behind."""
    content = built.export()
    for forge, told in FORGED:
        forged = json.loads(content)
        forge(forged)
        refused = load(service, "forged", json.dumps(forged, sort_keys=True).encode())
        assert refused.status_code == 400, (told, refused.text)
        assert told in refused.json()["error"]["message"], (told, refused.text)
    names = [one["name"] for one in httpx.get(f"{service.base}/_windtunnel/worlds").json()["worlds"]]
    assert "forged" not in names
    assert built.export() == content


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"{",
        b'{"format":1',
        b'{"format":1}',
        b'{"format":1,"tables":{}}',
        b'{"format":1,"tables":[],"world":{}}',
        b'{"format":1,"tables":{"tag":{}},"world":{}}',
        b'{"format":1,"tables":{"tag":[}',
        b'{"format":1,"tables":{7:[]}',
        b'{"format":1,"tables":{},"world":{}}',
        b'{"tables":{},"format":1,"world":{}}',
        b'{"format":NaN,"tables":{},"world":{}}',
        b'{"format":1e999,"tables":{},"world":{}}',
        b'{"format":' + b"[" * 100_000,
        b'{"format":1,"tables":{"tag":[' + b'{"a":' * 100_000,
        b"\xff\xfe{}",
        b"\x00",
    ],
)
def test_what_is_no_export_is_refused(service: Running, content: bytes) -> None:
    """CT-2."""
    refused = load(service, "no-export", content)
    assert refused.status_code == 400, refused.text
    assert "windtunnel world export" in refused.json()["error"]["message"]


def test_anything_behind_it_is_refused(built: TestWorld, service: Running) -> None:
    refused = load(service, "behind", built.export() + b"{}")
    assert refused.status_code == 400
    assert "Behind the export" in refused.json()["error"]["message"]


def test_names(built: TestWorld, service: Running) -> None:
    """CT-0: a world that is there is not written over."""
    content = built.export()
    assert load(service, built.name, content).status_code == 409
    assert load(service, "main", content).status_code == 409
    assert load(service, "No Good", content).status_code == 400
    assert load(service, "a@b", content).status_code == 400
    bare = httpx.post(f"{service.base}/_windtunnel/worlds/import", content=content, headers=JSON)
    assert bare.status_code == 400
    assert built.export() == content


def test_imports_may_be_large_and_nothing_else(service: Running) -> None:
    """CT-14: up to 256 MiB as they come; every other body stays at 1 MiB."""
    padded = b" " * (3 * 1024 * 1024)
    assert load(service, "padded", padded).status_code == 400, "read, and found to be no export"
    for path in ("worlds", "worlds/import/x"):
        answer = httpx.post(f"{service.base}/_windtunnel/{path}", content=padded, headers=JSON)
        assert answer.status_code == 413
    connection = HTTPConnection(service.base.removeprefix("http://"), timeout=60)
    headers = JSON | {"content-length": str(MAX_UPLOAD + 1)}
    connection.request("POST", "/_windtunnel/worlds/import?name=x", headers=headers)
    said = connection.getresponse()
    assert said.status == 413
    assert str(MAX_UPLOAD) in said.read().decode()
    connection.close()


@pytest.mark.timeout(120)
def test_a_body_without_a_length_is_counted(service: Running) -> None:
    """CT-14: chunked, and no end to it."""
    block = b"%x\r\n%s\r\n" % (2**22, b" " * 2**22)
    connection = HTTPConnection(service.base.removeprefix("http://"), timeout=60)
    connection.putrequest("POST", "/_windtunnel/worlds/import?name=x")
    connection.putheader("content-type", "application/json")
    connection.putheader("transfer-encoding", "chunked")
    connection.endheaders()
    with contextlib.suppress(ConnectionError):  # it may end while we are still sending
        for _ in range(MAX_UPLOAD // 2**22 + 1):
            connection.send(block)
        assert connection.getresponse().status == 413
    connection.close()


def test_eks_and_a_fork_go_the_same_way(service: Running) -> None:
    """CT-2: an export of a fork is that of its source."""
    world = service.world()
    plain = workers(2)
    del plain["SlurmConfig"]
    world.sagemaker.create_cluster(**eks(plain))
    world.advance(minutes=3)
    fork = {"name": f"{world.name}-f", "fork_of": world.name}
    assert httpx.post(f"{service.base}/_windtunnel/worlds", json=fork).status_code == 201
    assert load(service, f"{world.name}-i", export(service, fork["name"])).status_code == 201
    assert export(service, f"{world.name}-i") == world.export()
