"""Exit codes and words of the command line, as a shell sees them."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from app.commands.durations import seconds
from app.commands.output import dollars
from app.commands.price import _micro
from app.core.timings import PROFILES

CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("WINDTUNNEL_")}


def windtunnel(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app.cli", *words],
        env={**CLEAN, **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "environ", "code", "complaint"),
    [
        (["up", "--nope"], {}, 2, "--nope"),
        (["executor"], {}, 2, "set WINDTUNNEL_EXECUTE_JOBS=true"),
        (
            ["up", "--execute-jobs"],
            {"WINDTUNNEL_HOST": "0.0.0.0", "WINDTUNNEL_CONTROL_TOKEN": "t"},
            2,
            "--host 127.0.0.1",
        ),
        (["up", "--grpc-port", "-1"], {}, 2, "--grpc-port"),
        (["up"], {"WINDTUNNEL_PROT": "1"}, 2, "WINDTUNNEL_PROT is not a setting"),
        (["up", "--host", "0.0.0.0"], {}, 2, "WINDTUNNEL_CONTROL_TOKEN"),
        (["api", "--host", "0.0.0.0"], {}, 2, "WINDTUNNEL_CONTROL_TOKEN"),
        (["up", "--seed", "-1"], {}, 2, "--seed: must be from 0"),
        (["clock", "advance"], {}, 2, "DURATION"),
        (["clock", "advance", "3 fortnights"], {}, 2, "1h30m"),
        (["clock", "rate", "nan"], {}, 2, "greater than 0"),
        (["clock", "rate", "inf"], {}, 2, "greater than 0"),
        (["clock", "rate", "0"], {}, 2, "greater than 0"),
        (["clock", "rate", "-1"], {}, 2, "-1"),
        (["clock", "advance", "1s", "--max-wall-seconds", "nan"], {}, 2, "greater than 0"),
        (["world", "create", "w", "--rate", "inf"], {}, 2, "greater than 0"),
        (["fault", "add", "boot-slow", "--probability", "nan"], {}, 2, "--probability"),
        (["fault", "replace", "/nonexistent.toml"], {}, 2, "/nonexistent.toml"),
        (["quota", "set", "ml.p5.48xlarge for cluster usage", "many"], {}, 2, "unlimited"),
        (["bill", "--csv", "--json"], {}, 2, "exclude each other"),
        (["status", "--endpoint", "foo"], {}, 2, "--endpoint: must be an address"),
        (["env", "--endpoint", "ftp://x"], {}, 2, "--endpoint: must be an address"),
        (["status"], {"WINDTUNNEL_ENDPOINT": "foo"}, 2, "WINDTUNNEL_ENDPOINT: must be an address"),
        (["up", "--rate", "nan"], {}, 2, "--rate: must be greater than 0"),
        (["capacity", "set", "ml.p5.48xlarge", "many"], {}, 2, "unlimited"),
        (["price", "set", "ml.p5.48xlarge", "1.0000001"], {}, 2, "six decimals"),
        (["reset", "--seed-file", "/nonexistent.toml"], {}, 2, "/nonexistent.toml"),
        (["status", "--endpoint", "http://127.0.0.1:1"], {}, 3, "windtunnel up"),
        (["status"], {"WINDTUNNEL_ENDPOINT": "http://127.0.0.1:1"}, 3, "http://127.0.0.1:1"),
        (["reconciler"], {}, 2, "WINDTUNNEL_DATABASE_URL"),
        (["migrate"], {"WINDTUNNEL_DATABASE_URL": "postgresql://u:canary@127.0.0.1:1/d"}, 5, "127.0.0.1:1/d"),
    ],
)
def test_exit_codes(words: list[str], environ: dict[str, str], code: int, complaint: str) -> None:
    """CT-11, CT-13, CT-14, RL-23: one sentence on standard error, never a traceback or a secret."""
    ran = windtunnel(*words, **environ)
    assert (ran.returncode, ran.stdout) == (code, ""), ran.stderr
    assert complaint in ran.stderr
    assert "Traceback" not in ran.stderr
    assert "canary" not in ran.stderr


def test_a_taken_port_is_exit_code_4(tmp_path: Path) -> None:
    """CT-11: before anything is started."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ran = windtunnel("up", "--port", port, "--data", str(tmp_path / "data"))
    assert ran.returncode == 4, ran.stderr
    assert f"127.0.0.1:{port} is taken" in ran.stderr
    assert not (tmp_path / "data").exists()


def test_env_speaks_json_too() -> None:
    """CT-0: for clients and for our own verbs; the service need not run yet."""
    ran = windtunnel("env", "--world", "w1", "--endpoint", "http://127.0.0.1:1", "--json")
    told = json.loads(ran.stdout)
    assert told["AWS_ENDPOINT_URL"] == told["WINDTUNNEL_ENDPOINT"] == "http://127.0.0.1:1/w/w1"


def test_env_for_google() -> None:
    """VX-20: gcloud and Cloud Storage's clients read variables; the SDK of Vertex AI is given lines of Python."""
    told = json.loads(windtunnel("env", "--world", "w1", "--endpoint", "http://127.0.0.1:1", "--json").stdout)
    assert told["CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM"] == "http://127.0.0.1:1/w/w1/"
    assert told["STORAGE_EMULATOR_HOST"] == "http://127.0.0.1:1/w/w1"
    lines = windtunnel("env", "--world", "w1", "--endpoint", "http://127.0.0.1:1", "--python").stdout
    compile(lines, "lines", "exec")
    assert "api_endpoint='http://127.0.0.1:1/w/w1', api_transport='rest'" in lines


def test_env_without_a_world_goes_back_to_main(tmp_path: Path) -> None:
    """CT-0, CT-13: and hands on the configuration file, where keys and token may be."""
    config = tmp_path / "windtunnel.toml"
    config.write_text("access_keys = ['AKID:SECRET']\n")
    ran = windtunnel("env", "--config", str(config), "--json", WINDTUNNEL_ENDPOINT="http://127.0.0.1:1/w/left")
    told = json.loads(ran.stdout)
    assert told["WINDTUNNEL_ENDPOINT"] == "http://127.0.0.1:1"
    assert (told["AWS_ACCESS_KEY_ID"], told["WINDTUNNEL_CONFIG"]) == ("AKID", str(config))


def test_help_names_every_verb() -> None:
    """CT-11."""
    text = windtunnel("--help").stdout
    verbs = (
        "up api reconciler scheduler migrate env exec clock fault capacity quota price bill world reset status doctor"
    )
    verbs += " requests events metrics"
    assert [verb for verb in verbs.split() if f"\n  {verb} " not in text] == []


def test_help_says_what_is_taken() -> None:
    """CT-11: `up` answers a person; a fault's options name what they are for, and their defaults."""
    assert "--json" not in windtunnel("up", "--help").stdout
    text = " ".join(windtunnel("fault", "add", "--help").stdout.split())
    assert "for internal-error and the api- effects" in text
    usual = {round(PROFILES[name].delays["slow_boot"].total_seconds()) for name in ("instant", "fast")}
    assert f"{usual.pop()}s; realistic" in text
    assert not usual
    slow = PROFILES["realistic"].delays["slow_boot"].total_seconds()
    assert f"realistic {slow / 60:.0f}m" in text


def test_doctor_names_a_bad_setting() -> None:
    ran = windtunnel("doctor", WINDTUNNEL_RATE="fast")
    assert ran.returncode == 1
    assert "FAIL  settings   WINDTUNNEL_RATE" in ran.stdout


@pytest.mark.parametrize(
    ("text", "length"),
    [("90s", 90), ("3h", 10_800), ("2d", 172_800), ("1h30m", 5_400), ("1w", 604_800), ("0.5s", 0.5), ("42", 42)],
)
def test_durations(text: str, length: float) -> None:
    assert seconds(text) == length


def test_money_is_exact() -> None:
    """CT-5: integer micro-dollars both ways."""
    assert [dollars(each) for each in (0, 1, -1, 1_000_000, 55_040_000)] == [
        *("0.000000", "0.000001", "-0.000001", "1.000000", "55.040000")
    ]
    assert [_micro(each) for each in ("55.04", "$0.000001", "0")] == [55_040_000, 1, 0]
