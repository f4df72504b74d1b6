"""The test kit in a stranger's environment: an older boto3, moto, and nothing of ours but the kit's wheel (CT-15)."""

import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.clients.conftest import need
from tests.clients.drivers import ROOT
from tests.clients.stranger import PYTHON, Stranger, build, wait_for_the_end
from tests.kit import Running

EXAMPLES = ROOT / "examples" / "testing"
OWN_AND_MOTO = """
import importlib.util

import boto3
import pytest
from moto import mock_aws


@pytest.fixture
def world():
    return "mine"


def test_names_of_mine_are_mine(world, sagemaker, windtunnel_world):
    assert world == "mine"
    assert sagemaker.meta.endpoint_url == windtunnel_world.endpoint
    assert sagemaker.list_clusters()["ClusterSummaries"] == []


@mock_aws
def test_beside_moto(windtunnel_world, windtunnel_sagemaker):
    s3 = boto3.client("s3", region_name="us-east-1")
    s3.create_bucket(Bucket="lifecycle")
    assert [each["Name"] for each in s3.list_buckets()["Buckets"]] == ["lifecycle"]
    assert windtunnel_sagemaker.list_clusters()["ClusterSummaries"] == []
    assert windtunnel_world.boto3("sagemaker").list_clusters()["ClusterSummaries"] == []


def test_nothing_of_the_service_is_here():
    assert importlib.util.find_spec("app") is None


@pytest.mark.parametrize("number", range(4))
def test_all_share_one_service(windtunnel, number):
    with open("endpoints", "a") as file:
        file.write(windtunnel.endpoint + "\\n")
"""
FAILING = """
import pytest
from platform_module import Platform, ensure, is_ready


@pytest.mark.windtunnel(profile="realistic")
def test_fails(world, sagemaker):
    world.capacity("ml.p5.48xlarge", 1)
    ensure(sagemaker, Platform("short", workers=2))
    world.fault("launch-transient", group="workers", times=1)
    world.submit("train", 8, replicas=2)
    world.advance_until(lambda: is_ready(sagemaker, "short"), limit="2h")
"""
HANGING = """
import signal


def test_hangs(world):
    print("\\nrunning", flush=True)
    signal.pause()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("kit"))


@pytest.fixture(scope="module")
def packages(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, installed where nothing else is."""
    need("what stands beside the test kit", PYTHON.is_file())
    folder = tmp_path_factory.mktemp("packages")
    words = [PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", folder, wheel]
    subprocess.run(words, check=True, capture_output=True)
    return folder


@pytest.fixture
def home(open_folder: Path) -> Path:
    """With the examples that need boto3 alone."""
    for path in EXAMPLES.iterdir():
        if path.is_file() and "launcher" not in path.name:
            shutil.copy(path, open_folder)
    return open_folder


@pytest.fixture
def stranger(home: Path, packages: Path) -> Stranger:
    """Who has no service yet."""
    return Stranger(home, packages).prepare()


@pytest.fixture
def guest(home: Path, packages: Path, service: Running) -> Stranger:
    """Whose tests use a service that runs already."""
    return Stranger(home, packages, service.base).prepare()


def test_the_wheel_needs_nothing(wheel: Path) -> None:
    """CT-15: types, licence and the plugin's entry point are in it, and it requires no other package."""
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
        text = {name.rpartition("/")[2]: opened.read(name).decode() for name in names if ".dist-info/" in name}
    assert "Requires-Dist" not in text["METADATA"]
    assert "Requires-Python: >=3.9" in text["METADATA"]
    assert "[pytest11]\nwindtunnel = windtunnel_testkit.plugin" in text["entry_points.txt"]
    assert "windtunnel_testkit/py.typed" in names
    assert "TERMS AND CONDITIONS" in text["LICENSE"]


@pytest.mark.timeout(600)
def test_two_workers_share_a_service_that_ends_with_the_run(stranger: Stranger) -> None:
    """CT-15: the examples, fixtures of one's own and moto, over two workers and one service."""
    stranger.write("test_own.py", OWN_AND_MOTO)
    code, printed = stranger.test("-n", "2")
    assert code == 0, printed
    assert len(set((stranger.home / "endpoints").read_text().split())) == 1
    (process,) = stranger.started
    assert stranger.left == []
    wait_for_the_end(process)


def test_a_failure_tells_what_waits_and_how_to_see_it_again(guest: Stranger, service: Running) -> None:
    """CT-15: the seed, the reasons and the timeline; the line that it gives has the same history."""
    guest.write("test_failing.py", FAILING)
    code, printed = guest.test("test_failing.py", "--windtunnel-seed", "random")
    assert code == 1
    told = printed.partition("windtunnel: world test-fails-")[2]
    assert "profile realistic, seed " in told
    assert re.search(r"^fault f-1 launch-transient: struck 1 of \d+ that matched$", told, re.M), told
    assert re.search(r"^  cluster short: InService \(workers 1 of 2 .*failed\)$", told, re.M), told
    assert re.search(r"^  workload train: fleet-too-small \(More nodes, or fewer replicas\.\)$", told, re.M), told
    assert re.search(r"^  2026-01-01T\S+ E fault f-1 launch-transient: struck short workers", told, re.M), told
    assert re.search(r"^  2026-01-01T\S+ E cluster short: Failed to provision EC2 Instance", told, re.M), told
    assert "StillWaiting: the condition did not hold in 2:00:00 of the world's time" in printed
    found = re.search(r"^again: pytest (.+)$", told, re.M)
    assert found
    _, again = guest.test(*found[1].split())
    assert _timeline(again) == _timeline(printed) != []
    assert guest.started == []
    worlds = {each["name"] for each in _worlds(service)}
    assert not any(name.startswith("test-fails-") for name in worlds)


def _timeline(printed: str) -> list[str]:
    return re.findall(r"^  2026-01-01T.+$", printed.partition("windtunnel: world")[2], re.M)


def _worlds(service: Running) -> list[dict[str, str]]:
    world = service.world()
    found: list[dict[str, str]] = world.control("GET", "worlds")["worlds"]
    return found


def test_worlds_are_kept_on_request(guest: Stranger, service: Running) -> None:
    guest.write("test_kept.py", "def test_kept(world):\n    pass\n")
    code, printed = guest.test("test_kept.py", "--windtunnel-keep", "--windtunnel-start", "2026-05-01T00:00:00Z")
    assert code == 0, printed
    (kept,) = (each for each in _worlds(service) if each["name"].startswith("test-kept-"))
    assert kept["started_at"] == "2026-05-01T00:00:00.000Z"


def test_what_a_marker_does_not_know_is_refused(guest: Stranger) -> None:
    guest.write("test_wrong.py", "import pytest\n@pytest.mark.windtunnel(speed=3)\ndef test_it(world): pass\n")
    code, printed = guest.test("test_wrong.py")
    assert code == 1
    assert "takes seed=, start= and profile=, not ['speed']" in printed


def test_without_a_service_it_says_what_to_do(guest: Stranger) -> None:
    """Nobody answers; or there is no such command."""
    guest.write("test_it.py", "def test_it(world): pass\n")
    _, printed = guest.test("test_it.py", "--windtunnel-endpoint", "http://127.0.0.1:9")
    assert "no answer from http://127.0.0.1:9" in printed
    assert "Start it with `windtunnel up`" in printed
    alone = Stranger(guest.home, guest.packages)
    _, printed = alone.test("test_it.py", "--windtunnel-command", "no-such-command up")
    assert "There is no command 'no-such-command'. Install the service" in printed
    _, printed = alone.test("test_it.py", "--windtunnel-command", "sh -c 'echo no such database; exit 5'")
    assert re.search(r"ended\. It printed:\n.*no such database", printed), printed
    assert alone.left == []


@pytest.mark.timeout(600)
def test_a_run_that_is_killed_leaves_no_service(stranger: Stranger) -> None:
    """CT-15: by `kill -9`, without a chance to clear up."""
    stranger.write("test_hanging.py", HANGING)
    with stranger.begin("-s", "test_hanging.py") as running:
        assert running.stdout
        assert any(line == "running\n" for line in running.stdout)
        (process,) = stranger.started
        assert Path(f"/proc/{process}").exists()
        running.kill()
    wait_for_the_end(process)
    assert stranger.left == []
