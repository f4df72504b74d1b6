"""The words, the environment and the ports of programs that really run (VX-16)."""

import json
from typing import Any

import pytest

from app.core.errors import Invalid
from app.core.executing import Start, command, environment, exit_code, hosts, mounted, place_of, relocated
from tests.core.builders import T0
from tests.core.work import job
from tests.jobs import pool


def start(*pools: dict[str, Any], place: tuple[int, int] = (0, 0), world: str = "main", **facts: Any) -> Start:
    made = job(*pools, **facts)
    return Start(world, made, *place, 1, T0)


def container(**facts: Any) -> dict[str, Any]:
    made = pool()
    made["containerSpec"] |= facts
    return made


def test_a_command_is_its_words_and_its_arguments() -> None:
    """VX-16."""
    assert command(start(container(command=["a", "b"], args=["--c"])), "python") == ["a", "b", "--c"]
    package = {
        "machineSpec": {"machineType": "n1-standard-4"},
        "pythonPackageSpec": {"pythonModule": "m", "args": ["x"]},
    }
    assert command(start(package), "python") == ["python", "-m", "m", "x"]
    with pytest.raises(Invalid, match="no command"):
        command(start(container(args=["--only"])), "python")


def test_variables_refer_to_those_before_them() -> None:
    """VX-16: `$(NAME)`, and `$$` for a dollar; what is not known stays."""
    env = [
        {"name": "A", "value": "$(CLOUD_ML_REGION)"},
        {"name": "B", "value": "$(A)-$(C)-$$(A)-$x"},
        {"name": "C"},
        {"name": "PATH", "value": "/mine:$(PATH)"},
    ]
    found = environment(start(container(env=env)), {"PATH": "/bin"})
    assert (found["A"], found["B"]) == ("us-central1", "us-central1-$(C)-$(A)-$x")
    assert (found["C"], found["PATH"]) == ("", "/mine:/bin")


def test_a_trial_has_its_number_everywhere() -> None:
    """VX-21: its variables are those of the service, whatever the spec says."""
    env = [{"name": "CLOUD_ML_TRIAL_ID", "value": "mine"}, {"name": "T", "value": "$(CLOUD_ML_TRIAL_ID)"}]
    facts = {"trial_id": "3", "environment": {"CLOUD_ML_TRIAL_ID": "3"}}
    found = environment(start(container(env=env), **facts), {})
    assert found["CLOUD_ML_TRIAL_ID"] == "3"
    assert json.loads(found["CLUSTER_SPEC"])["task"] == {"type": "workerpool0", "index": 0, "trial": "3"}


def test_tensorflow_s_roles() -> None:
    """VX-16: only with several replicas; an evaluator is no part of the cluster that it knows."""
    assert "TF_CONFIG" not in environment(start(pool()), {})
    found = environment(start(pool(), pool(2), {}, pool(), place=(3, 0)), {})
    config = json.loads(found["TF_CONFIG"])
    assert sorted(config["cluster"]) == ["chief", "worker"]
    assert (config["task"]["type"], config["environment"]) == ("evaluator", "cloud")
    assert sorted(json.loads(found["CLUSTER_SPEC"])["cluster"]) == ["workerpool0", "workerpool1", "workerpool3"]


def test_each_replica_has_a_port_of_its_own_for_good() -> None:
    """VX-3: the same for all of the job's replicas in all their runs; other jobs, and other worlds, have others."""
    one = start(pool(), pool(3))
    again = Start("main", one.job, 1, 2, 7, T0)
    assert hosts(one) == hosts(again)
    assert hosts(one) != hosts(start(pool(), pool(3), world="other"))
    ports = [int(address.rpartition(":")[2]) for some in hosts(one).values() for address in some]
    assert ports == list(range(ports[0], ports[0] + 4))
    assert 10_240 <= ports[0] < 30_240


@pytest.mark.parametrize(
    ("text", "found", "moved"),
    [
        ("--data=/gcs/bkt/a/b.txt", [("bkt", "a/b.txt")], "--data=/r/bkt/a/b.txt"),
        ("pip3 install /gcs/bkt/x.tar.gz && ls '/gcs/other'", [("bkt", "x.tar.gz"), ("other", "")], None),
        ("/gcs/bkt/", [("bkt", "")], "/r/bkt/"),
        ("gs://gcs/bkt/a", [], "gs://gcs/bkt/a"),
        ("/home/gcs/bkt", [], "/home/gcs/bkt"),
        ("/gcs", [], "/gcs"),
    ],
)
def test_paths_below_gcs(text: str, found: list[tuple[str, str]], moved: str | None) -> None:
    """VX-16."""
    assert mounted([text]) == found
    assert moved is None or relocated(text, "/r") == moved


def test_places_of_packages() -> None:
    assert place_of("gs://bkt/a/b.tar.gz") == ("bkt", "a/b.tar.gz")
    for wrong in ("gs://bkt", "s3://bkt/a", "bkt/a"):
        with pytest.raises(Invalid, match="no place"):
            place_of(wrong)


def test_exit_codes_of_signals() -> None:
    """VX-11: 137 and 139 in containers, 9 and 11 with a Python package."""
    assert [exit_code(-9, python=python) for python in (False, True)] == [137, 9]
    assert [exit_code(-11, python=python) for python in (False, True)] == [139, 11]
    assert [exit_code(code, python=True) for code in (0, 3)] == [0, 3]
