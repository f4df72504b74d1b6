"""Samples written by hand in each format; the traces themselves are not ours to ship."""

import os
from pathlib import Path
from textwrap import dedent

import pytest

from app.core.errors import Invalid
from app.core.scheduling.policy import HOUR, MINUTE, SECOND
from app.simulate.traces import FORMATS, Reading, nodes_of, read
from app.simulate.workloads import Job, Trace

SAMPLES = {
    "philly-csv": """
        timestamp,duration,num_gpus,gpu_time,cluster
        2017-10-09 07:01:55,66.4,1,66.4,11cb48
        2017-10-09 07:00:55,7200.0,16,115200.0,6214e9
        2017-10-09 09:00:00,600.0,0,0.0,6214e9
    """,
    "philly-json": """
        [
          {"status": "Pass", "vc": "11cb48", "jobid": "application_2", "user": "ce2f4c",
           "submitted_time": "2017-10-09 07:01:55",
           "attempts": [{"start_time": "2017-10-09 07:02:00", "end_time": "2017-10-09 07:03:06",
             "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]},
          {"status": "Killed", "vc": "6214e9", "jobid": "application_1", "user": "aaaaaa",
           "submitted_time": "2017-10-09 07:00:55",
           "attempts": [
             {"start_time": "2017-10-09 07:01:00", "end_time": "2017-10-09 08:01:00",
              "detail": [{"ip": "m1", "gpus": ["gpu0"]}]},
             {"start_time": "2017-10-09 08:10:00", "end_time": "2017-10-09 09:10:00",
              "detail": [{"ip": "m2", "gpus": ["a", "b", "c", "d", "e", "f", "g", "h"]},
                         {"ip": "m3", "gpus": ["a", "b", "c", "d", "e", "f", "g", "h"]}]}]},
          {"status": "Killed", "vc": "6214e9", "jobid": "application_3", "user": "aaaaaa",
           "submitted_time": "2017-10-09 07:30:00",
           "attempts": [{"start_time": "2017-10-09 07:31:00", "end_time": "None",
             "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]},
          {"status": "Failed", "vc": "6214e9", "jobid": "application_4", "user": "aaaaaa",
           "submitted_time": "2017-10-09 07:30:00", "attempts": []}
        ]
    """,
    "helios": """
        job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
        2,u1,11cb48,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-09 18:42:07,66,0
        1,u2,6214e9,16,64,2,FAILED,2020-06-09 18:40:01,2020-06-09 18:41:27,2020-06-09 20:41:27,7200,86
        3,u2,6214e9,0,64,2,FAILED,2020-06-09 18:45:01,2020-06-09 18:45:01,2020-06-09 20:45:01,7200,0
    """,
    "acme": """
        job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_time
        b,11cb48,1,1,128,Debug,FAILED,2023-03-01 00:19:22+08:00,2023-03-01 00:19:22+08:00,,66,0,66.0
        a,6214e9,2,16,128,Pretrain,COMPLETED,2023-02-28 16:18:22+00:00,,,7200,13,115200.0
        c,6214e9,1,8,128,Other,RUNNING,2023-03-01 00:20:22+08:00,2023-03-01 00:23:58+08:00,,,3,0
    """,
    "openb": """
        name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
        pod-1,6000,12288,1,460,,11cb48,Running,160,236,170
        pod-0,6000,12288,16,1000,,6214e9,Running,100,7400,200
        pod-2,6000,12288,1,1000,,BE,Failed,170,270,170
        pod-3,6000,12288,0,0,,BE,Running,170,270,170
        pod-4,6000,12288,1,1000,,LS,Pending,170,270,
    """,
    "gavel": """
        vc,arrival_s,num_gpus,duration_s_v100
        11cb48,160,1,66
        6214e9,100,16,7200
    """,
    "swf": """
        ; Version: 2.2
        ; MaxProcs: 64

        2 160 10 66 1 -1 -1 -1 -1 -1 1 7 1 -1 11cb48 -1 -1 -1
        1 100 5 7200 16 -1 -1 16 7200 -1 1 8 1 -1 6214e9 -1 -1 -1
        3 170 5 -1 16 -1 -1 16 7200 -1 5 8 1 -1 6214e9 -1 -1 -1
    """,
}


@pytest.fixture
def sample(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return write(tmp_path, SAMPLES[request.param])


def write(folder: Path, text: str) -> Path:
    path = folder / "trace"
    path.write_text(dedent(text).lstrip())
    return path


def refused(path: Path, *arguments: object) -> str:
    with pytest.raises(Invalid) as caught:
        read(path, *arguments)  # type: ignore[arg-type]
    return caught.value.message


@pytest.mark.parametrize(("name", "sample"), [(name, name) for name in FORMATS], indirect=["sample"])
def test_each_format_is_recognised_and_says_the_same(name: str, sample: Path) -> None:
    """A gang of 16 GPUs for two hours, and a minute later one GPU for 66 seconds."""
    trace = read(sample)
    assert trace == read(sample, name)
    gang, small = trace.jobs[:2]
    assert (gang.submit, gang.runtime, gang.replicas, gang.gpus, gang.leaf) == (0, 2 * HOUR, 2, 8, "6214e9")
    assert (small.submit, small.runtime, small.replicas, small.gpus) == (MINUTE, 66 * SECOND, 1, 1)
    assert small.leaf == "11cb48"
    assert (gang.debug, small.debug) == (False, True)
    assert (gang.min_runtime, small.min_runtime) == (2 * HOUR, 2 * MINUTE)


def test_rows_that_are_no_gpu_jobs_are_counted_not_hidden(tmp_path: Path) -> None:
    assert "Rows left out: 1 without GPUs." in read(write(tmp_path, SAMPLES["philly-csv"])).source
    assert "1 without GPUs, 1 never seen to end." in read(write(tmp_path, SAMPLES["openb"])).source
    assert "1 without GPUs, 1 never seen to end." in read(write(tmp_path, SAMPLES["philly-json"])).source
    assert "Rows left out: 1 never seen to end." in read(write(tmp_path, SAMPLES["acme"])).source
    assert "Rows left out: 1 never seen to end." in read(write(tmp_path, SAMPLES["swf"])).source


def test_best_effort_is_unfunded_and_a_part_of_a_gpu_is_one(tmp_path: Path) -> None:
    jobs = by_id(read(write(tmp_path, SAMPLES["openb"])))
    assert jobs["pod-2@4"].min_runtime == 0
    assert jobs["pod-1@2"].gpus == 1


def by_id(trace: Trace) -> dict[str, Job]:
    return {job.id: job for job in trace.jobs}


def test_the_fleet_is_what_was_asked_for_or_a_quarter_more_than_is_used(tmp_path: Path) -> None:
    path = write(tmp_path, SAMPLES["gavel"])
    assert read(path, "auto", Reading(gpus=64)).gpus == 64
    trace = read(path)
    work = sum(job.size * job.runtime for job in trace.jobs)
    assert trace.ends == HOUR
    assert (trace.gpus - 8) * trace.ends * 8 < work * 10 <= trace.gpus * trace.ends * 8


def test_a_gang_that_the_fleet_cannot_hold_is_left_out_and_counted(tmp_path: Path) -> None:
    trace = read(write(tmp_path, SAMPLES["gavel"]), "auto", Reading(gpus=8))
    assert [job.size for job in trace.jobs] == [1]
    assert "1 larger than the fleet" in trace.source


def test_a_fleet_of_half_a_node_is_refused(tmp_path: Path) -> None:
    message = refused(write(tmp_path, SAMPLES["gavel"]), "auto", Reading(gpus=12))
    assert "12 GPUs is not a whole number of nodes with 8 GPUs" in message


def test_a_gang_is_split_into_the_fewest_equal_replicas(tmp_path: Path) -> None:
    path = write(tmp_path, "vc,arrival_s,num_gpus,duration_s_v100\na,0,12,60\na,1,9,60\na,2,17,60\na,3,5,60\n")
    trace = read(path, "auto", Reading(gpus=256))
    assert [(job.replicas, job.gpus) for job in trace.jobs] == [(2, 6), (3, 3), (17, 1), (1, 5)]


def test_the_first_days_are_taken_and_the_rest_is_counted(tmp_path: Path) -> None:
    rows = "".join(f"a,{day * 86_400},1,600\n" for day in range(5))
    path = write(tmp_path, f"vc,arrival_s,num_gpus,duration_s_v100\n{rows}")
    trace = read(path, "auto", Reading(days=2, warmup=HOUR))
    assert len(trace.jobs) == 2
    assert (trace.begins, trace.ends) == (HOUR, 48 * HOUR)
    assert "3 after the days that were asked for" in trace.source


def test_leaves_are_weighed_by_what_they_used_or_evenly(tmp_path: Path) -> None:
    path = write(tmp_path, "vc,arrival_s,num_gpus,duration_s_v100\na,0,3,100\nb,0,1,100\n")
    assert [(share.id, share.parent, share.weight) for share in read(path).shares] == [("a", "", 750), ("b", "", 250)]
    assert [share.weight for share in read(path, "auto", Reading(even=True)).shares] == [1, 1]


def test_the_leaf_is_whom_the_reader_chooses(tmp_path: Path) -> None:
    path = write(tmp_path, SAMPLES["helios"])
    assert {job.leaf for job in read(path, "auto", Reading(leaf="user")).jobs} == {"u1", "u2"}
    assert "knows no 'queue' of a job; it knows vc, user" in refused(path, "auto", Reading(leaf="queue"))


def test_a_minimum_runtime_is_at_most_the_longest(tmp_path: Path) -> None:
    """FS-4."""
    path = write(tmp_path, "vc,arrival_s,num_gpus,duration_s_v100\na,0,1,90000\n")
    assert read(path).jobs[0].min_runtime == 8 * HOUR
    assert read(path, "auto", Reading(longest_minimum=HOUR)).jobs[0].min_runtime == HOUR


def test_a_node_list_is_the_fleet(tmp_path: Path) -> None:
    path = write(tmp_path, SAMPLES["gavel"])
    fleet = tmp_path / "nodes.csv"
    fleet.write_text("sn,cpu_milli,memory_mib,gpu,model\nn0,1,1,0,\nn1,1,1,2,T4\nn2,1,1,4,P100\nn3,1,1,4,P100\n")
    trace = read(path, "auto", Reading(nodes=nodes_of(fleet)))
    assert [(node.id, node.gpus) for node in trace.nodes] == [("n1", 2), ("n2", 4), ("n3", 4)]
    assert "1 larger than the fleet" in trace.source


@pytest.mark.parametrize(
    ("name", "before", "after", "expected"),
    [
        ("philly-csv", "66.4,1,", "soon,1,", "line 2, column duration: expected a number, found 'soon'"),
        ("philly-csv", "2017-10-09 07:01:55", "yesterday", "line 2, column timestamp: expected a time"),
        ("philly-csv", "7200.0,16,", "7200.0,-1,", "line 3, column num_gpus: expected a number that is not negative"),
        ("philly-csv", ",11cb48", "", "line 2: expected 5 cells, found 4"),
        ("helios", "COMPLETED,2020-06-09", "COMPLETED,2020-16-09", "line 2, column submit_time: expected a time"),
        ("acme", ",16,128", ",many,128", "line 3, column gpu_num: expected a number, found 'many'"),
        ("openb", "Running,100", "Running,?", "line 3, column creation_time: expected a number, found '?'"),
        ("gavel", "100,16", "1e999,16", "line 3, column arrival_s: expected a number, found '1e999'"),
        ("swf", "1 100 5", "1 100", "line 5: expected 18 fields, found 17"),
        ("swf", "2 160 10", "2 x 10", "line 4, column submit: expected a number, found 'x'"),
        ("philly-json", '"vc": "11cb48", ', "", "line 2: the job has no vc"),
        ("philly-json", '"submitted_time": "2017-10-09 07:00:55"', '"submitted_time": 5', "line 6, column submitted"),
        ("philly-json", '"gpus": ["gpu0"]', '"gpus": 7', "line 2: job application_2: expected attempts"),
        ("philly-json", '"attempts": []}\n]', '"attempts": [', "is not whole"),
    ],
)
def test_an_error_names_the_line_and_the_column(
    tmp_path: Path, name: str, before: str, after: str, expected: str
) -> None:
    text = dedent(SAMPLES[name]).lstrip()
    assert before in text
    path = write(tmp_path, text.replace(before, after, 1))
    message = refused(path, name)
    assert message.startswith(f"{path}: ")
    assert expected in message


def test_a_table_that_nobody_knows_is_told_what_is_known(tmp_path: Path) -> None:
    message = refused(write(tmp_path, "when,what\n1,2\n"))
    assert "no format that is known begins with 'when,what'" in message
    assert "gavel: vc, arrival_s, num_gpus, duration_s_v100" in message


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    message = refused(write(tmp_path, "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,1000\n"), "openb")
    assert "line 1: no column qos, creation_time, deletion_time, scheduled_time; expected name, num_gpu" in message


def test_an_unknown_format_a_missing_file_and_a_packed_one_are_refused(tmp_path: Path) -> None:
    assert "no format 'slurm'; known are auto, philly-csv" in refused(write(tmp_path, "x\n"), "slurm")
    assert "No such file" in refused(tmp_path / "none")
    (tmp_path / "packed").write_bytes(b"\x1f\x8b\x08\x00\xff")
    assert "no text file" in refused(tmp_path / "packed")


def test_an_empty_trace_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "vc,arrival_s,num_gpus,duration_s_v100\na,0,0,60\n")
    assert "no job on GPUs is left; rows left out: 1 without GPUs" in refused(path)


@pytest.mark.skipif("WINDTUNNEL_TRACES" not in os.environ, reason="needs a folder with the public traces")
def test_the_public_traces_are_read() -> None:
    """Counts of jobs as published, less those without GPUs or times."""
    folder = Path(os.environ["WINDTUNNEL_TRACES"])
    philly = read(folder / "philly_jobs_82k.csv")
    assert (len(philly.jobs), len(philly.shares)) == (82_247, 15)
    openb = read(
        folder / "alibaba_v2023_openb_pod_list_default.csv",
        "auto",
        Reading(nodes=nodes_of(folder / "alibaba_v2023_openb_node_list_all_node.csv")),
    )
    assert (len(openb.jobs), openb.gpus) == (6_203, 6_212)
    assert len(read(folder / "gavel_msr_seed0_v100.csv").jobs) == 13_716
