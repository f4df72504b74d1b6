"""What becomes of a job: its workers' ends, their classes, retries, cancel, timeout (VX-2 to VX-15)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.core.faults import Rule
from app.core.replica import Worker
from app.core.timings import PROFILES
from tests.core.builders import INSTANT, REALISTIC, at
from tests.core.work import Play, around, job
from tests.jobs import gpus, pool

HOUR = at(hours=1)
DAY = at(hours=24)


def exits(code: int | str = 1, **facts: Any) -> Rule:
    return Rule(**({"rule_id": "f-1", "effect": "worker-exit", "code": str(code), "seconds": 3, "times": 1} | facts))


def lost(**facts: Any) -> Rule:
    return exits(**({"code": "transient"} | facts))


def test_the_plain_way() -> None:
    """VX-2, VX-8: PENDING until all workers are up, RUNNING, and SUCCEEDED when the primary is done."""
    play = Play(job(pool(), pool(3))).until(HOUR)
    assert [name for _, name in play.states] == ["PENDING", "RUNNING", "SUCCEEDED"]
    assert play.job.started_at == play.states[1][0]
    assert play.job.ended_at == play.states[2][0] == play.job.shown_at
    assert {one.status for one in play.replicas} == {Worker.STOPPED}


def test_workers_come_in_no_fixed_order_and_begin_at_once() -> None:
    """VX-2: each begins as soon as its machine is there; the job is RUNNING when the last one is."""
    play = Play(job(pool(), pool(9)), timings=REALISTIC).until(at(minutes=5))
    began = [one.up_at for one in play.replicas]
    assert len(set(began)) > 3
    assert began != sorted(began, key=str)
    assert play.job.running_at == max(one for one in began if one)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_permanent_failure_shows_one_stray_restart(profile: str) -> None:
    """VX-5, VX-6, VX-9: the worker is restarted on its machine at once, the job fails 26 s after the exit, and that is
    told with its error a minute later."""
    play = Play(job(pool(EXIT_AFTER_SECONDS="100")), timings=PROFILES[profile]).until(HOUR)
    [exited] = play.told("Exit code (1)")
    restart = PROFILES[profile].delays["container_restart"]
    assert play.worker().runs == 2
    assert play.worker().machines == 1
    assert play.worker().run_at == exited + restart
    assert play.job.ended_at == exited + timedelta(seconds=26)
    assert play.job.shown_at == play.job.ended_at + timedelta(seconds=60)
    assert [name for _, name in play.states] == ["PENDING", "RUNNING"], "it is told when it is shown"
    assert (play.state, play.job.error_code) == ("FAILED", 3)
    assert (
        play.job.error_message
        == "The replica workerpool0-0 exited with a non-zero status of 1. Termination reason: Error."
    )


@pytest.mark.parametrize("code", [6, 11, 134, 139])
def test_what_may_be_transient_is_retried_three_times(code: int) -> None:
    """VX-6, VX-10, VX-14a: PENDING again at each retry; startTime stays."""
    play = Play(job(pool(EXIT_CODE=str(code), RUN_SECONDS="5"))).until(HOUR)
    assert (play.job.attempt, play.job.retries) == (4, {"crash": 3})
    assert [name for _, name in play.states] == ["PENDING", "RUNNING"] * 4
    assert play.job.started_at == play.states[1][0]
    assert f"exited with a non-zero status of {code}." in (play.job.error_message or "")
    assert play.state == "FAILED"


def test_a_crash_that_does_not_come_again() -> None:
    """VX-6: the retry succeeds, with machines of its own."""
    play = Play(job(pool(RUN_SECONDS="60"), pool(2)), exits(139, replica="workerpool1-1")).until(HOUR)
    assert (play.state, play.job.attempt) == ("SUCCEEDED", 2)
    assert {one.machines for one in play.replicas} == {2}


@pytest.mark.parametrize(("python", "code"), [(False, 137), (True, 9)])
def test_out_of_memory(python: bool, code: int) -> None:
    """VX-11: by a container or a Python package; it is permanent."""
    given = pool(MEMORY_GB="14")
    if python:
        given["pythonPackageSpec"] = given.pop("containerSpec")
    play = Play(job(given)).until(HOUR)
    assert play.job.error_message == (
        f"The replica workerpool0-0 ran out of memory and exited with a non-zero status of {code}."
    )
    assert (play.job.error_code, play.job.attempt) == (3, 1)
    assert Play(job(pool(MEMORY_GB="8"))).until(HOUR).state == "SUCCEEDED"


def test_the_first_failure_in_the_window_decides() -> None:
    """VX-14a."""
    play = Play(
        job(pool(RUN_SECONDS="60"), pool(2)), exits(139, replica="workerpool1-0"), exits(seconds=10, rule_id="f-2")
    )
    play.until(HOUR)
    assert play.job.retries == {"crash": 1}


def test_the_primarys_end_wins_over_a_pending_decision() -> None:
    """VX-14a."""
    play = Play(job(pool(RUN_SECONDS="20"), pool(2)), exits(1, seconds=10, replica="workerpool1-0")).until(HOUR)
    assert (play.state, play.job.error_code) == ("SUCCEEDED", None)


def test_a_workers_end_is_final() -> None:
    """VX-14a, VX-8: the job goes on until the primary is done, and then all are stopped."""
    play = Play(job(pool(RUN_SECONDS="100"), pool(2, RUN_SECONDS="5"), pool(1, RUN_SECONDS="900"))).until(at(50))
    assert [one.status for one in play.replicas] == [Worker.RUNNING, Worker.DONE, Worker.DONE, Worker.RUNNING]
    assert play.until(HOUR).state == "SUCCEEDED"
    assert play.job.ended_at is not None
    assert play.job.ended_at < at(120)


def test_the_primary_may_end_before_all_are_up() -> None:
    """VX-9: then startTime is when the primary began."""
    play = Play(job(pool(RUN_SECONDS="5"), gpus()), limits={"a3-highgpu-8g": 0}).until(HOUR)
    assert [name for _, name in play.states] == ["PENDING", "SUCCEEDED"]
    assert play.job.started_at == play.told("Exit code (0)")[0] - timedelta(seconds=5)


class TestLostWorkers:
    """VX-7."""

    def test_it_goes_on_elsewhere_and_the_others_stay(self) -> None:
        """VX-3, VX-14a: on another machine under the same name; the state stays RUNNING."""
        play = Play(job(pool(RUN_SECONDS="60"), pool(2)), lost(replica="workerpool1-1")).until(HOUR)
        assert [name for _, name in play.states] == ["PENDING", "RUNNING", "SUCCEEDED"]
        assert [one.machines for one in play.replicas] == [1, 1, 2]
        assert play.worker("workerpool1-1").restarts == 1

    @pytest.mark.parametrize("timings", [INSTANT, REALISTIC])
    def test_five_restarts_each_then_the_job_is_retried_then_it_fails(self, timings: object) -> None:
        """VX-7, VX-14a: the sixth loss of one worker retries the job, with counters anew; the fourth time it fails."""
        play = Play(
            job(pool(RUN_SECONDS="90000"), pool(2)),
            lost(replica="workerpool1-0", times=None),
            timings=timings,
        ).until(DAY)
        assert (play.job.attempt, play.job.retries) == (4, {"worker-lost": 3})
        assert len(play.told("is lost")) == 4 * 6
        assert (play.job.error_code, play.job.error_message) == (13, "Internal error occurred for the current attempt.")

    def test_counters_are_each_workers_own(self) -> None:
        losses = [lost(replica=f"workerpool1-{n}", times=5, rule_id=f"f-{n}") for n in range(2)]
        play = Play(job(pool(RUN_SECONDS="3600"), pool(2)), *losses).until(DAY)
        assert (play.state, play.job.retries) == ("SUCCEEDED", {})

    def test_maintenance_takes_machines_with_gpus(self) -> None:
        """VX-4: one without migrates live."""
        rule = Rule("f-1", "vm-maintenance", seconds=5)
        with_gpus = Play(job(gpus()), Rule("f-1", "vm-maintenance", seconds=5, times=1)).until(HOUR)
        without = Play(job(pool()), rule).until(HOUR)
        assert [one.worker().machines for one in (with_gpus, without)] == [2, 1]
        assert without.told("migrates")
        assert with_gpus.state == without.state == "SUCCEEDED"

    def test_restart_job_on_worker_restart(self) -> None:
        """VX-14: each loss of a worker restarts the whole job, of the three times."""
        scheduling = {"restartJobOnWorkerRestart": True}
        rule = lost(replica="workerpool1-0", times=2)
        play = Play(job(pool(RUN_SECONDS="60"), pool(2), scheduling=scheduling), rule).until(HOUR)
        assert (play.state, play.job.retries) == ("SUCCEEDED", {"worker-lost": 2})
        scheduling["disableRetries"] = True
        play = Play(job(pool(RUN_SECONDS="60"), pool(2), scheduling=scheduling), lost(times=2)).until(HOUR)
        assert (play.state, play.job.retries) == ("SUCCEEDED", {})


class TestMachines:
    """VX-12."""

    def test_stockout(self) -> None:
        """Four attempts of twenty minutes, ten minutes apart; what has a machine runs meanwhile."""
        play = Play(job(pool(RUN_SECONDS="90000"), gpus(2, RUN_SECONDS="90000")), limits={"a3-highgpu-8g": 1}).until(
            at(minutes=19)
        )
        assert [one.status for one in play.replicas] == [Worker.RUNNING, Worker.RUNNING, Worker.WAITING]
        play.until(DAY)
        assert (play.job.attempt, play.job.retries) == (4, {"stockout": 3})
        assert play.job.ended_at == at(minutes=4 * 20 + 3 * 10)
        assert (play.job.error_code, play.job.error_message) == (
            8,
            "Resources are insufficient in region: us-central1. Try a different region or use a different accelerator.",
        )
        assert play.job.started_at is None

    def test_disable_retries(self) -> None:
        """VX-14."""
        play = Play(job(gpus(), scheduling={"disableRetries": True}), limits={"a3-highgpu-8g": 0}).until(HOUR)
        assert (play.job.attempt, play.job.error_code, play.job.ended_at) == (1, 8, at(minutes=20))

    def test_a_fault_rule_makes_a_stockout(self) -> None:
        """CT-3: in this attempt of the job."""
        rule = Rule("f-1", "stockout", attempt=1, replica="workerpool1-0")
        play = Play(job(pool(RUN_SECONDS="1800"), pool()), rule).until(DAY)
        assert (play.state, play.job.retries) == ("SUCCEEDED", {"stockout": 1})

    def test_flex_start_waits_for_all_at_once(self) -> None:
        """None of the machines is taken before there are enough."""
        scheduling = {"strategy": "FLEX_START", "maxWaitDuration": "7200s"}
        play = Play(job(gpus(), gpus(2), scheduling=scheduling), limits={"a3-highgpu-8g": 2}).until(HOUR)
        assert {one.status for one in play.replicas} == {Worker.WAITING}
        assert (play.state, play.around.stock.deltas) == ("PENDING", {})
        play.until(DAY)
        assert (play.job.ended_at, play.job.attempt, play.job.error_code) == (at(hours=2), 1, 8)
        assert "Resources are insufficient in region" in (play.job.error_message or "")

    @pytest.mark.parametrize(("given", "ends"), [({}, at(hours=24)), ({"maxWaitDuration": "0s"}, None)])
    def test_flex_start_waits_a_day_or_for_ever(self, given: dict[str, str], ends: object) -> None:
        scheduling = {"strategy": "FLEX_START"} | given
        play = Play(job(gpus(), scheduling=scheduling), limits={"a3-highgpu-8g": 0}).until(at(hours=9000))
        assert play.job.ended_at == ends

    def test_spot_preemption_queues_the_job_up_to_six_times(self) -> None:
        """VX-14a: QUEUED meanwhile."""
        rule = Rule("f-1", "spot-preemption", seconds=2)
        play = Play(job(pool(), pool(), scheduling={"strategy": "SPOT"}), rule).until(HOUR)
        assert play.job.retries == {"preempted": 6}
        assert [name for _, name in play.states] == [*["PENDING", "RUNNING", "QUEUED"] * 6, "PENDING", "RUNNING"]
        assert (play.job.error_code, play.state) == (8, "FAILED")

    def test_only_spot_is_preempted(self) -> None:
        assert Play(job(pool()), Rule("f-1", "spot-preemption")).until(HOUR).state == "SUCCEEDED"


def test_internal_errors_have_three_attempts() -> None:
    """VX-13."""
    rule = Rule("f-1", "internal-error", operation="CreateCustomJob", seconds=7)
    play = Play(job(pool()), rule).until(HOUR)
    assert (play.job.attempt, play.job.retries) == (3, {"internal": 2})
    assert (play.job.error_code, play.job.error_message) == (13, "Internal error occurred for the current attempt.")
    again = Play(job(pool()), Rule("f-1", "internal-error", operation="CreateCustomJob", times=2)).until(HOUR)
    assert (again.state, again.job.attempt) == ("SUCCEEDED", 3)


def test_the_timeout_counts_running_time_over_all_attempts() -> None:
    """VX-14: code 4, FAILED, as all that the SDK ends on."""
    rule = exits(139, seconds=50, times=1)
    play = Play(job(pool(RUN_SECONDS="9000"), scheduling={"timeout": "200s"}), rule).until(DAY)
    assert (play.job.attempt, play.job.error_code, play.state) == (2, 4, "FAILED")
    assert play.job.ran_ms == 200_000
    assert "200 seconds" in (play.job.error_message or "")


class TestCancel:
    """VX-15."""

    def test_it_is_cancelled_when_its_workers_have_stopped(self) -> None:
        play = Play(job(pool(), pool(2))).until(at(6))
        play.cancel()
        assert play.state == "CANCELLING"
        play.until(HOUR)
        assert [name for _, name in play.states] == ["PENDING", "RUNNING", "CANCELLING", "CANCELLED"]
        assert (play.job.error_code, play.job.error_message) == (1, "Job is cancelled.")
        assert play.job.shown_at == play.job.ended_at

    def test_it_wins_over_the_primarys_end_and_over_decisions(self) -> None:
        """VX-14a."""
        for given in (pool(RUN_SECONDS="3"), pool(EXIT_AFTER_SECONDS="3")):
            play = Play(job(given), timings=INSTANT).until(at(2))
            play.now = at(3)
            play.cancel()
            assert play.until(HOUR).state == "CANCELLED"

    def test_a_job_that_queues_is_cancelled(self) -> None:
        play = Play(job(pool(), admitted_at=None, queued_at=DAY)).until(at(5))
        assert play.state == "QUEUED"
        play.cancel()
        assert play.until(HOUR).state == "CANCELLED"
        assert play.texts == ["service Job is cancelled."]

    def test_a_worker_that_lags_does_the_past_first(self) -> None:
        """CT-1: the job ended before its end was asked for."""
        play = Play(job(pool(RUN_SECONDS="3")), timings=INSTANT).until(at(1))
        play.job = job(pool(RUN_SECONDS="3"), cancel_at=at(60))
        play.replicas = Play(play.job).replicas
        play.due_at = at(0)
        assert play.until(HOUR).state == "SUCCEEDED"


def test_nothing_is_done_for_an_earlier_instant() -> None:
    """CT-1: a machine that came free in the past of a worker that lags is taken now."""
    play = Play(job(gpus(RUN_SECONDS="100")), limits={"a3-highgpu-8g": 0}).until(at(minutes=5))
    play.job = replace(play.job, acted_at=at(minutes=4))
    play.around = around(limits={"a3-highgpu-8g": 1})
    play.change("workerpool0-0", launch_after=at(3))
    play.due_at = at(3)
    play.until(at(minutes=6))
    assert play.worker().up_at is not None
    assert play.worker().up_at > at(minutes=4)
    assert [line.at for line in play.lines] == sorted(line.at for line in play.lines)


class TestCheckpoints:
    """VX-16."""

    def test_a_run_resumes_from_its_last_checkpoint(self) -> None:
        given = pool(RUN_SECONDS="100", CHECKPOINT_SECONDS="20")
        play = Play(job(given), lost(seconds=50), timings=INSTANT).until(HOUR)
        assert (play.worker().saved_ms, play.worker().lost_ms) == (40_000, 10_000)
        assert play.job.ended_at == at(50 + 60)
        assert "workerpool0-0 10 s of work since the last checkpoint are lost." in play.texts
        assert "workerpool0-0 The program resumes from its checkpoint at 40 s." in play.texts

    def test_without_one_it_begins_from_zero(self) -> None:
        play = Play(job(pool(RUN_SECONDS="100")), lost(seconds=50), timings=INSTANT).until(HOUR)
        assert (play.job.ended_at, play.worker().lost_ms) == (at(150), 50_000)

    def test_a_retry_of_the_job_resumes_too(self) -> None:
        given = pool(RUN_SECONDS="100", CHECKPOINT_SECONDS="30")
        play = Play(job(given, pool(1)), exits(139, seconds=65, replica="workerpool0-0"), timings=INSTANT).until(HOUR)
        assert play.worker().saved_ms == 60_000
        assert play.job.ended_at == at(65 + 26 + 40)


def test_bills_go_from_the_machines_start_to_its_stop() -> None:
    """VX-23: a restart on the same machine splits nothing, one on another does; queue and provisioning are free."""
    play = Play(job(pool(EXIT_AFTER_SECONDS="10")), timings=REALISTIC).until(HOUR)
    [opened], [closed] = play.opened, play.closed
    assert opened.started_at > at(119)
    assert closed.ended_at == play.job.ended_at
    again = Play(job(pool(RUN_SECONDS="60")), lost(seconds=10)).until(HOUR)
    assert [one.number for one in again.opened] == [1, 2]
    assert again.opened[1].previous_end == again.closed[0].ended_at
    assert again.opened[1].instance_id != again.opened[0].instance_id


def test_what_the_log_says() -> None:
    """VX-17: the service's words in their order, and a failure with where to look."""
    play = Play(job(pool(EXIT_AFTER_SECONDS="5"))).until(HOUR)
    assert [line.split(" ", 1)[0] for line in play.texts[:5]] == ["service"] * 5
    assert play.texts[5:] == [
        "service Job is running.",
        "workerpool0-0 Task completed. Exit code (1). Exit reason (SUBPROCESS_EXCEPTION)",
        "workerpool0-0 5 s of work since the last checkpoint are lost.",
        "service The replica workerpool0-0 exited with a non-zero status of 1. Termination reason: Error.\n\n"
        "To find out more about why your job exited please check the logs: https://console.cloud.google.com/logs/"
        "viewer?project=123456789012&resource=ml_job%2Fjob_id%2F5518405205760147456&advancedFilter=resource.type%3D"
        "%22ml_job%22%0Aresource.labels.job_id%3D%225518405205760147456%22",
        "service Tearing down training program.",
        "service Finished tearing down training program.",
    ]
    assert {line.severity for line in play.lines if "non-zero" in line.text} == {"ERROR"}
    assert Play(job(pool())).until(HOUR).texts[-1] == "service Job completed successfully."


def test_what_really_runs_has_no_end_in_advance() -> None:
    """VX-16: the program that the job declares does not count; faults do."""
    declared = job(pool(RUN_SECONDS="5", EXIT_CODE="3"))
    play = Play(declared, executes=True).until(at(hours=24 * 6))
    assert (play.state, play.worker().status, play.worker().runs) == ("RUNNING", Worker.RUNNING, 1)
    assert (play.worker().done_at, play.worker().exit_at) == (None, None)
    struck = Play(declared, exits(7), executes=True).until(HOUR)
    assert "non-zero status of 7" in str(struck.job.error_message)
