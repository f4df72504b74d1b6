"""Where settings come from, and what is said of those that cannot be used."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app import settings as module
from app.settings import Settings, SettingsError, load


def test_flags_win_over_environment_over_file(tmp_path: Path) -> None:
    """CT-13."""
    file = tmp_path / "windtunnel.toml"
    file.write_text("port = 1001\nprofile = 'instant'\nseed = 7\n")
    found = load({"port": 1003, "rate": None}, {"WINDTUNNEL_PORT": "1002", "WINDTUNNEL_SEED": "8"}, file)
    assert (found.port, found.seed, found.profile, found.rate) == (1003, 8, "instant", 1.0)


def test_the_file_may_be_named_by_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "windtunnel.toml"
    file.write_text("start = 2026-01-01T00:00:00Z\nallowed_hosts = ['a', 'b']\nfrozen = true\n")
    found = load(environ={"WINDTUNNEL_CONFIG": str(file)})
    assert (found.start, found.allowed_hosts, found.frozen) == (datetime(2026, 1, 1, tzinfo=UTC), ("a", "b"), True)


@pytest.mark.parametrize(
    ("environ", "complaint"),
    [
        ({"WINDTUNNEL_PORTT": "1"}, "WINDTUNNEL_PORTT is not a setting.*did you mean WINDTUNNEL_PORT"),
        ({"WINDTUNNEL_TELEMETRY": "1"}, "WINDTUNNEL_TELEMETRY is not a setting"),
        ({"WINDTUNNEL_PORT": "70000"}, "WINDTUNNEL_PORT: must be from 0 to 65535"),
        ({"WINDTUNNEL_PORT": "x"}, "WINDTUNNEL_PORT: must be a whole number"),
        ({"WINDTUNNEL_RATE": "0"}, "WINDTUNNEL_RATE: must be greater than 0"),
        ({"WINDTUNNEL_RATE": "nan"}, "WINDTUNNEL_RATE: must be greater than 0"),
        ({"WINDTUNNEL_FROZEN": "maybe"}, "WINDTUNNEL_FROZEN: must be true or false"),
        ({"WINDTUNNEL_PROFILE": "slow"}, "WINDTUNNEL_PROFILE: must be one of instant, fast, realistic"),
        ({"WINDTUNNEL_START": "2026-01-01T00:00:00"}, "WINDTUNNEL_START: needs an offset"),
        ({"WINDTUNNEL_START": "soon"}, "WINDTUNNEL_START: must be an instant"),
        ({"WINDTUNNEL_DEFAULT_ACCOUNT": "12"}, "WINDTUNNEL_DEFAULT_ACCOUNT: must be an account's twelve digits"),
        ({"WINDTUNNEL_DATABASE_URL": "mysql://x"}, "WINDTUNNEL_DATABASE_URL: must be a postgresql:// address"),
        ({"WINDTUNNEL_AUTH": "verify"}, "set WINDTUNNEL_ACCESS_KEYS"),
        ({"WINDTUNNEL_CONFIG": "/nonexistent.toml"}, "/nonexistent.toml cannot be read"),
        ({"WINDTUNNEL_EPHEMERAL": "1", "WINDTUNNEL_DATA": "/x"}, "ephemeral and data exclude each other"),
    ],
)
def test_what_cannot_be_used_is_named(environ: dict[str, str], complaint: str) -> None:
    """CT-13."""
    with pytest.raises(SettingsError, match=complaint):
        load(environ=environ)


def test_a_setting_of_the_file_is_named_with_its_file(tmp_path: Path) -> None:
    file = tmp_path / "windtunnel.toml"
    file.write_text("prot = 1\n")
    with pytest.raises(SettingsError, match=rf"prot in {file} is not a setting.*did you mean port"):
        load(environ={}, config=file)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com"])
def test_an_address_that_others_reach_needs_a_token(host: str) -> None:
    """CT-14, RL-23."""
    with pytest.raises(SettingsError, match="WINDTUNNEL_CONTROL_TOKEN"):
        load({"host": host}, {})
    assert load({"host": host}, {"WINDTUNNEL_CONTROL_TOKEN": "t"}).host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_loopback_needs_none(host: str) -> None:
    assert load({"host": host}, {}).control_token is None


def test_jobs_are_executed_for_this_machine_alone() -> None:
    """VX-16: whoever reaches the service may run any command, so a token is not enough; and it is off unless asked."""
    token = {"WINDTUNNEL_CONTROL_TOKEN": "t"}
    with pytest.raises(SettingsError, match=r"execute_jobs runs the commands.*use --host 127.0.0.1"):
        load({"host": "0.0.0.0", "execute_jobs": True}, token)
    assert load({"host": "::1"}, {"WINDTUNNEL_EXECUTE_JOBS": "true"}).execute_jobs
    assert not load({}, {}).execute_jobs


def test_secrets_are_in_no_text() -> None:
    """RL-28: neither in what a refusal says nor in the settings' own text."""
    canary = "canary-4711"
    found = load(
        environ={
            "WINDTUNNEL_CONTROL_TOKEN": canary,
            "WINDTUNNEL_ACCESS_KEYS": f"AKID:{canary}",
            "WINDTUNNEL_DATABASE_URL": f"postgresql://u:{canary}@h/d",
        }
    )
    assert canary not in repr(found)
    for name in ("ACCESS_KEYS", "DATABASE_URL", "CONTROL_TOKEN"):
        with pytest.raises(SettingsError) as refusal:
            load(environ={f"WINDTUNNEL_{name}": f"{canary} \n"})
        assert canary not in str(refusal.value)


def test_a_child_gets_the_same_settings() -> None:
    told = Settings(
        port=1234,
        data=Path("/some/where"),
        database_url="postgresql://u:p@h/d",
        supervised=True,
        frozen=True,
        rate=2.5,
        start=datetime(2026, 1, 2, tzinfo=UTC),
        access_keys=("a:b", "c:d:e"),
        listen_fd=7,
    )
    handed_on = load(environ=told.environment())
    assert handed_on == told
    assert {"rate", "frozen", "start"} <= handed_on.given
    assert told.secrets_by_key == {"a": "b", "c": "d:e"}


def test_a_child_knows_what_was_given_though_it_be_the_default() -> None:
    """CT-13: `--rate 1` brings a world back to rate 1, and `frozen = false` resumes it."""
    told = load({"profile": "fast", "rate": "1"}, {"WINDTUNNEL_FROZEN": "false"})
    child = load(environ=told.environment())
    assert child.given == {"profile", "rate", "frozen"}
    assert [child.is_given(name) for name in ("profile", "rate", "frozen", "seed")] == [True, True, True, False]
    assert load(environ={}).environment() == {}


def test_motos_profile_brings_motos_account() -> None:
    """A default of the profile, which any source overrides."""
    assert load({"profile": "moto"}, {}).default_account == "123456789012"
    assert load({"profile": "moto"}, {"WINDTUNNEL_DEFAULT_ACCOUNT": "1" * 12}).default_account == "1" * 12
    assert load({}, {}).default_account == "111122223333"


@pytest.mark.parametrize(
    ("flags", "environ", "file", "place"),
    [
        ({"ephemeral": True}, {"WINDTUNNEL_DATA": "/far"}, "", ("ephemeral", True)),
        ({"ephemeral": True}, {"WINDTUNNEL_DATABASE_URL": "postgresql://h/d"}, "data = '/far'", ("ephemeral", True)),
        ({"data": "/near"}, {"WINDTUNNEL_DATABASE_URL": "postgresql://h/d"}, "", ("data", Path("/near"))),
        ({"data": "/near"}, {"WINDTUNNEL_EPHEMERAL": "1"}, "", ("data", Path("/near"))),
        ({}, {"WINDTUNNEL_DATA": "/near"}, "database_url = 'postgresql://h/d'", ("data", Path("/near"))),
        ({}, {"WINDTUNNEL_EPHEMERAL": "no"}, "data = '/far'", ("data", Path("/far"))),
    ],
)
def test_a_nearer_place_of_the_database_drops_those_of_farther_sources(
    flags: dict[str, object], environ: dict[str, str], file: str, place: tuple[str, object], tmp_path: Path
) -> None:
    """CT-13."""
    config = tmp_path / "windtunnel.toml"
    config.write_text(file)
    found = load(flags, environ, config)
    chosen = [(name, getattr(found, name)) for name in module.PLACES if getattr(found, name)]
    assert chosen == [place]


def test_two_places_in_one_source_exclude_each_other() -> None:
    """CT-13."""
    with pytest.raises(SettingsError, match="ephemeral and data exclude each other"):
        load({"ephemeral": True, "data": "/x"}, {"WINDTUNNEL_DATABASE_URL": "postgresql://h/d"})


@pytest.mark.parametrize(
    "endpoint", ["foo", "ftp://x", "http://", "http://h:x", "http://h:70000", "http://[::1", "h:1"]
)
def test_an_endpoint_is_an_address(endpoint: str) -> None:
    """CT-13."""
    with pytest.raises(SettingsError, match="--endpoint: must be an address such as"):
        load({"endpoint": endpoint}, {})


def test_default_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """As root outside of its home: the database's user could not enter that."""
    monkeypatch.setattr(module.os, "geteuid", lambda: 0)
    assert Settings().data_dir == Path("/var/lib/windtunnel")
    monkeypatch.setattr(module.os, "geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_DATA_HOME", "/home/u/.share")
    assert Settings().data_dir == Path("/home/u/.share/windtunnel")


def test_the_address_for_clients() -> None:
    assert Settings(host="0.0.0.0", control_token="t").base_url == "http://127.0.0.1:4600"
    assert Settings(host="::1", port=1).base_url == "http://[::1]:1"
