"""What a log line looks like, and what is never in one."""

import json
import logging

import pytest

from app.host.logs import configure
from app.settings import Settings


@pytest.fixture(autouse=True)
def _restored() -> object:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = before[0], before[1]


def test_one_record_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """RL-20."""
    configure(Settings(log_format="human"), "api")
    logging.getLogger("x").warning("first\nsecond\r\x1b[31m", extra={"name_of": "a\nb"})
    assert capsys.readouterr().err.count("\n") == 1


def test_json_carries_the_facts(capsys: pytest.CaptureFixture[str]) -> None:
    configure(Settings(log_format="json"), "reconciler")
    facts = {"rows": 3, "name": "w-1", "args": "x"}
    logging.getLogger("windtunnel").info("claimed 100%%", extra={"facts": facts})
    record = json.loads(capsys.readouterr().err)
    assert {name: record[name] for name in ("process", "level", "message", "rows", "name", "args")} == {
        **{"process": "reconciler", "level": "info", "message": "claimed 100%%", "rows": 3, "name": "w-1", "args": "x"}
    }


@pytest.mark.parametrize("log_format", ["human", "json"])
def test_secrets_are_starred(capsys: pytest.CaptureFixture[str], log_format: str) -> None:
    """RL-28: tokens, secret keys, the database's password as written and as meant, also in a traceback."""
    canaries = ['to"ken-1', "secret-2", "p%40ss-3"]
    told = Settings(
        control_token=canaries[0],
        access_keys=(f"AKID:{canaries[1]}",),
        database_url=f"postgresql://u:{canaries[2]}@h/d",
        log_format=log_format,  # type: ignore[arg-type]
    )
    configure(told, "api")
    try:
        raise ValueError(" ".join([*canaries, "p@ss-3"]))
    except ValueError:
        logging.getLogger("x").exception("%s", canaries, extra={"token": canaries[0]})
    printed = capsys.readouterr().err
    assert "***" in printed
    assert not [each for each in (*canaries, "p@ss-3", r"to\"ken-1") if each in printed]
