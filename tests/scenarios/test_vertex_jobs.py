"""Custom jobs as clients see them, from one due instant to the next (VX-1 to VX-15, VX-23)."""

from typing import Any

import pytest

from tests.jobs import LOCATION, PROJECT, Jobs, gpus, pool
from tests.kit import TestWorld

METRIC = "aiplatform.googleapis.com/custom_model_training_nvidia_h100_gpus"
H100 = "a3-highgpu-8g"


@pytest.fixture
def jobs(world: TestWorld) -> Jobs:
    return Jobs(world)


def quota(world: TestWorld, value: int | None) -> None:
    body = {"name": METRIC, "value": value, "project": PROJECT, "region": LOCATION}
    world.control("POST", "quotas", json=body)


def rows(world: TestWorld, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.http.get(f"{world.base}/_windtunnel/worlds/{world.name}/export").json()[
        "tables"
    ][table]
    return found


class TestQuota:
    """VX-1."""

    def test_first_come_first_served(self, world: TestWorld, jobs: Jobs) -> None:
        quota(world, 16)
        first, second, third = (jobs.create(gpus(RUN_SECONDS=str(20 * n))) for n in (1, 2, 3))
        assert [jobs.state(one) for one in (first, second, third)] == ["PENDING", "PENDING", "QUEUED"]
        world.advance(13)
        assert [jobs.state(one) for one in (first, second, third)] == ["RUNNING", "RUNNING", "QUEUED"]
        world.advance(11)
        assert jobs.state(third) == "PENDING", "as soon as one has ended"
        world.advance(minutes=5)
        assert jobs.state(third) == "SUCCEEDED"
        assert jobs.get(third)["createTime"] < jobs.get(first)["endTime"] < jobs.get(third)["startTime"]

    def test_more_than_the_quota_itself_is_refused(self, world: TestWorld, jobs: Jobs) -> None:
        quota(world, 4)
        body = {"displayName": "d", "jobSpec": {"workerPoolSpecs": [gpus()]}}
        answer = jobs.call("POST", f"{jobs.parent}/customJobs", json=body)
        told = answer.json()["error"]
        assert (answer.status_code, told["status"]) == (429, "RESOURCE_EXHAUSTED")
        assert told["message"] == f"The following quota metrics exceed quota limits: {METRIC}"

    def test_a_quota_that_is_raised_or_taken_away_lets_them_go(self, world: TestWorld, jobs: Jobs) -> None:
        quota(world, 8)
        waiting = [jobs.create(gpus(RUN_SECONDS="3600")) for _ in range(4)][1:]
        world.advance(60)
        assert {jobs.state(one) for one in waiting} == {"QUEUED"}
        quota(world, 16)
        world.advance(60)
        assert [jobs.state(one) for one in waiting] == ["RUNNING", "QUEUED", "QUEUED"]
        quota(world, None)
        world.advance(60)
        assert {jobs.state(one) for one in waiting} == {"RUNNING"}

    def test_projects_and_other_metrics_do_not_wait(self, world: TestWorld, jobs: Jobs) -> None:
        quota(world, 8)
        for _ in range(2):
            jobs.create(gpus(RUN_SECONDS="3600"))
        other = Jobs(world, "999999999999")
        assert other.state(other.create(gpus())) == "PENDING"
        assert jobs.state(jobs.create(pool())) == "PENDING"

    def test_who_queues_can_be_cancelled(self, world: TestWorld, jobs: Jobs) -> None:
        quota(world, 8)
        jobs.create(gpus(RUN_SECONDS="3600"))
        waits = jobs.create(gpus())
        jobs.cancel(waits)
        assert jobs.states(waits)[-1] == "CANCELLED"


class TestMachines:
    """VX-12, CT-4: jobs take their machines from the pools that everybody takes them from."""

    def test_a_machine_that_comes_free_goes_to_who_waits(self, world: TestWorld, jobs: Jobs) -> None:
        world.capacity(H100, 2, region=LOCATION)
        jobs.create(gpus(1, RUN_SECONDS="300"), gpus(1, RUN_SECONDS="300"))
        waits = jobs.create(gpus())
        world.advance(60)
        assert jobs.state(waits) == "PENDING"
        world.advance(300)
        assert jobs.state(waits) == "SUCCEEDED"
        [found] = [one for one in world.control("GET", "capacity")["pools"] if one["instance_type"] == H100]
        assert (found["total"], found["used"]) == (2, 0)

    def test_a_stockout_is_retried_and_then_told(self, world: TestWorld, jobs: Jobs) -> None:
        world.capacity(H100, 0, region=LOCATION)
        job = jobs.create(gpus())
        world.advance(minutes=19)
        assert jobs.state(job) == "PENDING"
        world.advance(hours=2)
        assert jobs.get(job)["error"] == {
            "code": 8,
            "message": f"Resources are insufficient in region: {LOCATION}. Try a different region or use a different "
            "accelerator.",
        }

    def test_flex_start_gets_all_machines_when_there_are_enough(self, world: TestWorld, jobs: Jobs) -> None:
        world.capacity(H100, 2, region=LOCATION)
        busy = jobs.create(gpus(RUN_SECONDS="7200"))
        flex = jobs.create(gpus(), gpus(1), strategy="FLEX_START")
        small = jobs.create(gpus())
        world.advance(minutes=30)
        assert [jobs.state(one) for one in (busy, flex, small)] == ["RUNNING", "PENDING", "SUCCEEDED"]
        world.capacity(H100, 3, region=LOCATION)
        world.advance(minutes=1)
        assert jobs.state(flex) == "SUCCEEDED"

    def test_a_gang_that_waits_keeps_nobody_else_waiting(self, world: TestWorld, jobs: Jobs) -> None:
        world.capacity(H100, 1, region=LOCATION)
        jobs.create(gpus(RUN_SECONDS="60"))
        flex = jobs.create(gpus(), gpus(3), strategy="FLEX_START")
        small = jobs.create(gpus())
        world.advance(minutes=3)
        assert [jobs.state(one) for one in (flex, small)] == ["PENDING", "SUCCEEDED"]

    def test_lowering_a_pool_evicts_nobody(self, world: TestWorld, jobs: Jobs) -> None:
        world.capacity(H100, 2, region=LOCATION)
        job = jobs.create(gpus(RUN_SECONDS="600"))
        world.advance(60)
        world.capacity(H100, 0, region=LOCATION)
        world.advance(minutes=20)
        assert jobs.state(job) == "SUCCEEDED"

    def test_use_without_a_limit_is_told(self, world: TestWorld, jobs: Jobs) -> None:
        jobs.create(gpus(RUN_SECONDS="600"), gpus(2))
        world.advance(60)
        [found] = world.control("GET", "capacity")["pools"]
        assert (found["region"], found["instance_type"], found["total"], found["used"]) == (LOCATION, H100, None, 3)


def test_a_failure_is_told_a_minute_after_the_end(world: TestWorld, jobs: Jobs) -> None:
    """VX-9: with its state; an advance to the next event stops there."""
    job = jobs.create(pool(EXIT_AFTER_SECONDS="5"))
    assert jobs.states(job) == ["PENDING", "RUNNING", "FAILED"]
    told = jobs.get(job)
    assert told["updateTime"] > told["endTime"]
    assert told["updateTime"] == world.now().replace("Z", "000Z")
    assert told["error"]["code"] == 3


INTERNAL = "Internal error occurred for the current attempt."
ERRORS: dict[str, tuple[dict[str, Any] | None, dict[str, str], dict[str, Any], int, str]] = {
    "an exit": (None, {"EXIT_CODE": "2"}, {}, 3, "exited with a non-zero status of 2. Termination reason: Error."),
    "a crash": (None, {"EXIT_CODE": "139"}, {}, 3, "exited with a non-zero status of 139. Termination reason: Error."),
    "memory": (None, {"MEMORY_GB": "15"}, {}, 3, "ran out of memory and exited with a non-zero status of 137."),
    "a stockout": ({"effect": "stockout"}, {}, {"disableRetries": True}, 8, "Resources are insufficient in region: "),
    "an internal error": ({"effect": "internal-error", "operation": "CreateCustomJob"}, {}, {}, 13, INTERNAL),
    "lost workers": ({"effect": "worker-exit", "code": "transient"}, {}, {}, 13, INTERNAL),
    "the timeout": (None, {"RUN_SECONDS": "999"}, {"timeout": "90s"}, 4, "its timeout of 90 seconds"),
    "preemption": (
        {"effect": "spot-preemption"},
        {},
        {"strategy": "SPOT"},
        8,
        "Resources are insufficient in region: ",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_each_error_of_a_job(world: TestWorld, jobs: Jobs, name: str) -> None:
    """VX-10 to VX-14: with its code and its text, by what a user can do."""
    rule, env, scheduling, code, text = ERRORS[name]
    if rule is not None:
        world.control("POST", "faults", json=rule)
    job = jobs.create(pool(**env), **scheduling)
    world.advance(hours=3)
    told = jobs.get(job)
    assert (told["state"], told["error"]["code"]) == ("JOB_STATE_FAILED", code)
    assert text in told["error"]["message"]


def test_only_what_has_ended_is_deleted(world: TestWorld, jobs: Jobs) -> None:
    """VX-14."""
    job = jobs.create(pool(2) | {"replicaCount": "1"})
    refused = jobs.call("DELETE", job)
    assert (refused.status_code, refused.json()["error"]["status"]) == (400, "FAILED_PRECONDITION")
    world.advance(13.5)
    world.advance(1)
    jobs.cancel(job)
    world.advance(60)
    assert jobs.call("DELETE", job).status_code == 200
    assert jobs.call("GET", job).status_code == 404
    world.advance(60)
    assert rows(world, "job_replica") == rows(world, "log_line") == []


def test_cancelling_what_has_ended_changes_nothing(world: TestWorld, jobs: Jobs) -> None:
    """VX-14: not even while a failure is not told yet."""
    done, failing = jobs.create(), jobs.create(pool(EXIT_AFTER_SECONDS="1"))
    world.advance(40)
    before = jobs.get(failing)
    for one in (done, failing):
        jobs.cancel(one)
    assert jobs.get(failing) == before
    world.advance(minutes=5)
    assert [jobs.state(one) for one in (done, failing)] == ["SUCCEEDED", "FAILED"]


def test_cancel_is_answered_at_once(jobs: Jobs) -> None:
    """VX-15."""
    job = jobs.create()
    jobs.cancel(job)
    assert jobs.states(job) == ["CANCELLING", "CANCELLED"]
    assert jobs.get(job)["error"] == {"code": 1, "message": "Job is cancelled."}


def test_spot_and_its_quota(world: TestWorld, jobs: Jobs) -> None:
    """VX-12, VX-14a: preempted, it queues behind others."""
    body = {"name": METRIC.replace("training_", "training_preemptible_"), "value": 8, "project": PROJECT}
    world.control("POST", "quotas", json=body | {"region": LOCATION})
    world.fault("spot-preemption", job="first", seconds=3, times=1)
    first = jobs.create(gpus(), name="first", strategy="SPOT")
    second = jobs.create(gpus(), name="second", strategy="SPOT")
    world.advance(7)
    assert [jobs.state(one) for one in (first, second)] == ["QUEUED", "PENDING"]
    world.advance(minutes=5)
    assert [jobs.state(one) for one in (first, second)] == ["SUCCEEDED", "SUCCEEDED"]
    assert jobs.get(second)["endTime"] < jobs.get(first)["endTime"]


class TestRunningWorkers:
    """CT-3: a rule strikes what runs when it is made, as well as what begins to run later."""

    def test_a_worker_that_runs_is_struck(self, world: TestWorld, jobs: Jobs) -> None:
        job = jobs.create(pool(RUN_SECONDS="3600"), pool(2))
        world.advance(60)
        world.fault("worker-exit", job="train", replica="workerpool0-0", code="3", seconds=30, times=1)
        world.advance(29)
        assert jobs.state(job) == "RUNNING"
        world.advance(minutes=2)
        assert jobs.get(job)["error"]["message"].endswith("status of 3. Termination reason: Error.")
        assert world.control("GET", "faults")["rules"][0]["hits"] == 1

    def test_an_end_that_comes_sooner_stays(self, world: TestWorld, jobs: Jobs) -> None:
        job = jobs.create(pool(RUN_SECONDS="60"))
        world.advance(30)
        world.fault("worker-exit", job=job.rpartition("/")[2], seconds=300)
        world.advance(minutes=10)
        assert jobs.state(job) == "SUCCEEDED"

    def test_maintenance_of_one_that_runs(self, world: TestWorld, jobs: Jobs) -> None:
        job = jobs.create(gpus(RUN_SECONDS="600"), pool(1, RUN_SECONDS="600"))
        world.advance(60)
        world.fault("vm-maintenance", times=2)
        world.advance(minutes=30)
        assert jobs.state(job) == "SUCCEEDED"
        assert [one["machines"] for one in rows(world, "job_replica")] == [2, 1]

    def test_cancelled_jobs_are_left_alone(self, world: TestWorld, jobs: Jobs) -> None:
        job = jobs.create(pool(RUN_SECONDS="600"))
        world.advance(60)
        jobs.cancel(job)
        world.fault("worker-exit", code="9")
        assert jobs.states(job) == ["CANCELLING", "CANCELLED"]


class TestBill:
    """VX-23."""

    def test_replica_seconds_of_running_machines(self, world: TestWorld, jobs: Jobs) -> None:
        quota(world, 8)
        world.control(
            "POST", "prices", json={"instance_type": H100, "region": LOCATION, "micro_usd_per_hour": 3_600_000}
        )
        job = jobs.create(gpus(RUN_SECONDS="100"), name="first")
        waits = jobs.create(gpus(RUN_SECONDS="50"), name="second")
        world.advance(60)
        assert {line["job_name"] for line in world.bill()["lines"]} == {"first"}, "queue time is free"
        world.advance(minutes=10)
        [line] = world.bill(job="first", by="job")["lines"]
        assert not line.get("workloads"), "a job is no cluster whose nodes others share"
        assert (line["job"], line["cluster_arn"], line["price_evidence"]) == (job, None, "user")
        assert line["milliseconds"] == 101_000, "from the machine's start to its stop, not while it is provisioned"
        assert line["micro_usd"] == 101_000
        bill = world.bill(by="job", job=waits)
        assert [one["milliseconds"] for one in bill["lines"]] == [51_000]
        assert world.bill(by="account")["total_micro_usd"] == 152_000

    def test_a_line_for_each_replica_with_its_intervals(self, world: TestWorld, jobs: Jobs) -> None:
        world.fault("vm-maintenance", replica="workerpool1-0", seconds=10, times=1)
        jobs.create(pool(RUN_SECONDS="60"), gpus(RUN_SECONDS="60"))
        world.advance(minutes=5)
        lines = world.bill(intervals=True)["lines"]
        assert [(one["group"], one["logical_id"], len(one["intervals"])) for one in lines] == [
            ("workerpool0", "workerpool0-0", 1),
            ("workerpool1", "workerpool1-0", 1),
            ("workerpool1", "workerpool1-0", 1),
        ], "another machine is another line"

    def test_attached_accelerators_cost_too(self, world: TestWorld, jobs: Jobs) -> None:
        given = pool(RUN_SECONDS="60")
        given["machineSpec"] |= {"acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 2}
        jobs.create(given)
        world.advance(minutes=5)
        [line] = world.bill(by="type")["lines"]
        prices = {
            name: world.control("GET", "prices", params={"instance_type": name, "region": LOCATION})["prices"][0]
            for name in ("n1-standard-4", "NVIDIA_TESLA_T4")
        }
        assert line["instance_type"] == "n1-standard-4 + 2 x NVIDIA_TESLA_T4"
        rates = [prices[name]["micro_usd_per_hour"] for name in ("n1-standard-4", "NVIDIA_TESLA_T4")]
        assert line["micro_usd_per_hour"] == rates[0] + 2 * rates[1]

    def test_a_deleted_job_stays_on_the_bill(self, world: TestWorld, jobs: Jobs) -> None:
        job = jobs.create()
        world.advance(minutes=5)
        before = world.bill(by="job")
        assert jobs.call("DELETE", job).status_code == 200
        assert world.bill(by="job") == before
        answer = world.http.get(f"{world.endpoint}/_windtunnel/bills", params={"job": "never"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NotFound")

    def test_an_aws_account_of_the_same_number_has_nothing_of_it(self, world: TestWorld) -> None:
        """Cost Explorer is AWS's."""
        jobs = Jobs(world, "111122223333")
        jobs.create(gpus(RUN_SECONDS="3600"))
        world.advance(hours=30)
        client = world.client(service="ce")
        period = {"Start": "2026-01-01", "End": "2026-01-02"}
        told = client.get_cost_and_usage(TimePeriod=period, Granularity="DAILY", Metrics=["UnblendedCost"])
        assert told["ResultsByTime"][0]["Total"]["UnblendedCost"]["Amount"] in ("0", "0.000000")


def test_a_world_goes_on_from_a_copy(service: Any, world: TestWorld, jobs: Jobs) -> None:
    """CT-2: forked in the middle of everything, both ways end the same."""
    world.capacity(H100, 2, region=LOCATION)
    quota(world, 24)
    world.fault("worker-exit", code="139", probability=0.5, seconds=4)
    for strategy in ("STANDARD", "FLEX_START", "SPOT"):
        jobs.create(gpus(), gpus(1, CHECKPOINT_SECONDS="3"), strategy=strategy)
    world.advance(8)
    world.control("POST", "worlds", json={"name": f"{world.name}-twin", "fork_of": world.name})
    twin = TestWorld(world.base, f"{world.name}-twin")
    for one in (world, twin):
        one.advance(hours=3)
    ours, theirs = world.export(), twin.export()
    twin.close()
    assert ours == theirs
    assert {one["outcome"] for one in rows(world, "custom_job")} <= {"JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED"}
