"""Every setting of the service, frozen, from one place: flags over `WINDTUNNEL_*` over a file (CT-13).

A plain dataclass: building a Pydantic model takes 0.2 s, and every process and every command waits for it.
"""

# ruff: noqa: RUF009 - `_setting` is `dataclasses.field` with a name of its own
import dataclasses
import difflib
import ipaddress
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from app.core.world import PROFILE_NAMES

PREFIX = "WINDTUNNEL_"
CONFIG_VARIABLE = "WINDTUNNEL_CONFIG"
NO_SETTINGS = (CONFIG_VARIABLE, "WINDTUNNEL_COMMAND")  # the second is the test kit's: how it runs `windtunnel`
PLACES = ("ephemeral", "data", "database_url")  # where the database is: one of them


class SettingsError(Exception):
    """A setting that cannot be used; the text names it, says why and what to do. Exit code 2."""


def _setting(default: Any, read: Callable[[Any], Any], *, secret: bool = False) -> Any:
    """A field with the reader that makes its value of a string (or of a TOML value), or raises ValueError."""
    return dataclasses.field(default=default, metadata={"read": read}, repr=not secret)


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, bool) or not re.fullmatch(r"[+-]?[0-9]+", str(value).strip()):
            raise ValueError("must be a whole number")
        if not least <= int(value) <= most:
            raise ValueError(f"must be from {least} to {most}")
        return int(value)

    return read


def _positive(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError("must be a number") from None
    if isinstance(value, bool) or not 0 < number < float("inf"):
        raise ValueError("must be greater than 0")
    return number


def _one_of(*words: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return str(value)

    return read


def _text(pattern: str, meaning: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise ValueError(f"must be {meaning}")
        return value

    return read


def _yes_or_no(value: Any) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    try:
        return words[str(value).lower()]
    except KeyError:
        raise ValueError("must be true or false") from None


def _words(value: Any) -> tuple[str, ...]:
    """`a, b` as the environment writes a list; a TOML list passes as it is."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise ValueError("must be words separated by commas")
    return tuple(part.strip() for part in parts if part.strip())


def _key_pairs(value: Any) -> tuple[str, ...]:
    pairs = _words(value)
    if not all(all(pair.partition(":")[::2]) for pair in pairs):
        raise ValueError("must be AKID:SECRET pairs separated by commas")
    return pairs


def _instant(value: Any) -> datetime:
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        raise ValueError("must be an instant such as 2026-01-01T00:00:00Z") from None
    if moment.tzinfo is None:
        raise ValueError("needs an offset from UTC, as in 2026-01-01T00:00:00Z")
    return moment.astimezone(UTC).replace(microsecond=0)


def _address(value: Any) -> str:
    complaint = "must be an address such as http://127.0.0.1:4600"
    try:
        parts = urlsplit(_text(r"https?://\S+", "an address such as http://127.0.0.1:4600")(value))
        usable = parts.hostname and parts.port != 0 and not parts.query and not parts.fragment
    except ValueError:
        raise ValueError(complaint) from None
    if not usable:
        raise ValueError(complaint)
    return str(value)


_ANY = _text(r"(?s).+", "text that is not empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What one process of the service is told. Built by `load`; a test may build it directly."""

    host: str = _setting("127.0.0.1", _ANY)
    port: int = _setting(4600, _whole(0, 65535))  # 0 takes a free one
    grpc_port: int | None = _setting(None, _whole(0, 65534))  # 0: no gRPC; None: the one after `port`; TLS is the next
    endpoint: str | None = _setting(None, _address)  # for the command line

    database_url: str | None = _setting(  # None: the embedded Postgres
        None, _text(r"postgres(ql)?://\S+", "a postgresql:// address"), secret=True
    )
    data: Path | None = _setting(None, Path)  # None: `default_data_dir()`
    ephemeral: bool = _setting(False, _yes_or_no)
    api_pool_size: int = _setting(10, _whole(1, 200))
    lease_seconds: float = _setting(10.0, _positive)  # wall time
    poll_seconds: float = _setting(0.25, _positive)  # wall time

    profile: Literal["instant", "fast", "realistic", "moto"] = _setting("fast", _one_of(*PROFILE_NAMES))
    rate: float = _setting(1.0, _positive)  # virtual seconds in a second of the wall
    frozen: bool = _setting(False, _yes_or_no)
    start: datetime | None = _setting(None, _instant)  # where world `main` starts; None: now
    seed: int = _setting(1, _whole(0, 2**63 - 1))
    chaos: int | None = _setting(None, _whole(0, 2**63 - 1))  # begins chaos of this seed in world `main`
    read_lag: int | None = _setting(None, _whole(0, 86_400))  # virtual seconds by which counts of `main` are late
    seed_file: Path | None = _setting(None, Path)
    events_per_cluster: int = _setting(10_000, _whole(1, 10**9))
    job_error_seconds: int = _setting(60, _whole(0, 86_400))  # virtual, from a job's end until its error is told
    log_lines_per_job: int = _setting(10_000, _whole(1, 10**9))
    execute_jobs: bool = _setting(False, _yes_or_no)  # jobs' commands run on this machine
    execute_processes: int = _setting(32, _whole(1, 1000))  # programs of jobs that run at once
    event_metadata: Literal["null", "full"] = _setting("null", _one_of("null", "full"))  # of EventBridge's copies
    event_streams: int = _setting(250, _whole(0, 900))  # server-sent events, open at once in one API process
    webhook_hosts: tuple[str, ...] = _setting((), _words)  # other than loopback
    webhook_attempts: int = _setting(12, _whole(1, 100))
    webhook_retry_seconds: float = _setting(1.0, _positive)  # wall time; doubled by each failure
    default_region: str = _setting("us-west-2", _text(r"[a-z]{2}(-[a-z]+)+-[0-9]+", "a region such as us-west-2"))
    default_account: str = _setting("111122223333", _text(r"[0-9]{12}", "an account's twelve digits"))
    slurm_default_mode: Literal["classic", "continuous"] = _setting("classic", _one_of("classic", "continuous"))
    restricted_groups: Literal["refuse", "allow"] = _setting("refuse", _one_of("refuse", "allow"))

    auth: Literal["off", "verify"] = _setting("off", _one_of("off", "verify"))
    access_keys: tuple[str, ...] = _setting((), _key_pairs, secret=True)  # AKID:SECRET
    control_token: str | None = _setting(None, _text(r"[!-~]+", "visible ASCII without blanks"), secret=True)
    allowed_hosts: tuple[str, ...] = _setting((), _words)

    log_format: Literal["auto", "human", "json"] = _setting("auto", _one_of("auto", "human", "json"))
    log_level: Literal["debug", "info", "warning", "error"] = _setting(
        "info", _one_of("debug", "info", "warning", "error")
    )
    supervised: bool = _setting(False, _yes_or_no)  # set by `windtunnel up` for its children
    listen_fd: int | None = _setting(None, _whole(3, 2**20))  # set by `windtunnel up` for its API
    restarted: bool = _setting(False, _yes_or_no)  # set by `windtunnel up` for a child in place of one that died
    # No setting: the names that `load` found, whatever their values.
    given: frozenset[str] = dataclasses.field(default=frozenset(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if not is_loopback(self.host) and not self.control_token:
            raise SettingsError(  # CT-14, RL-23
                f"host {self.host} is reachable from other machines, so the control API needs a token: "
                f"set {PREFIX}CONTROL_TOKEN, or use --host 127.0.0.1"
            )
        if self.execute_jobs and not is_loopback(self.host):
            raise SettingsError(  # VX-16: whoever reaches the API may run any command
                f"execute_jobs runs the commands of jobs on this machine, and host {self.host} is reachable from other "
                "machines: use --host 127.0.0.1, or leave execute_jobs off"
            )
        chosen = [name for name in PLACES if getattr(self, name)]
        if len(chosen) > 1 and not self.supervised:
            raise SettingsError(f"{' and '.join(chosen)} exclude each other: keep one of them")
        if self.auth == "verify" and not self.access_keys:
            raise SettingsError(f"auth verify needs keys to verify against: set {PREFIX}ACCESS_KEYS=AKID:SECRET")

    @property
    def secrets_by_key(self) -> dict[str, str]:
        """Access key id -> secret."""
        return {pair.partition(":")[0]: pair.partition(":")[2] for pair in self.access_keys}

    @property
    def data_dir(self) -> Path:
        return (self.data or default_data_dir()).expanduser().absolute()

    @property
    def base_url(self) -> str:
        """Address that a client on this machine uses. Port 0 stays 0: only the listener knows better."""
        unspecified = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
        host = unspecified.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    def is_given(self, name: str) -> bool:
        """Somebody asked for this value: it was given, or is another than the default."""
        return name in self.given or getattr(self, name) != _BY_NAME[name].default

    def environment(self) -> dict[str, str]:
        """The `WINDTUNNEL_*` variables that give a child process these settings; it knows which were given."""
        told = {name: getattr(self, name) for name in _BY_NAME if self.is_given(name)}
        return {PREFIX + name.upper(): _written(value) for name, value in told.items() if value not in (None, ())}


_BY_NAME = {field.name: field for field in dataclasses.fields(Settings) if "read" in field.metadata}

_OF_PROFILE = {"moto": {"default_account": "123456789012"}}  # as its tests expect


def _written(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    return ",".join(value) if isinstance(value, tuple) else str(value)


def is_loopback(host: str) -> bool:
    """Only this machine can reach a listener on `host`; a name other than localhost counts as reachable."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def default_data_dir() -> Path:
    """Where data is kept unless told. Root's is outside its home, which the database's user cannot enter."""
    if os.geteuid() == 0:
        return Path("/var/lib/windtunnel")
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(home).expanduser() / "windtunnel"


def load(
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    config: Path | None = None,
) -> Settings:
    """Flags (None = not given) over environment over the TOML file. Raises SettingsError."""
    environ = os.environ if environ is None else environ
    config = config_file(config, environ)
    values: dict[str, Any] = {}
    if config:
        values = {name: _read(name, value, f"{name} in {config}") for name, value in _from_file(config).items()}
    _overlay(values, dict(_from_environment(environ)))
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    _overlay(values, {name: _read(name, value, f"--{name.replace('_', '-')}") for name, value in given.items()})
    values = _OF_PROFILE.get(values.get("profile", ""), {}) | values
    return Settings(**values, given=frozenset(values))


def config_file(given: Path | None, environ: Mapping[str, str] | None = None) -> Path | None:
    """The configuration file: what `--config` names, else what the environment names."""
    named = (os.environ if environ is None else environ).get(CONFIG_VARIABLE)
    return given or (Path(named) if named else None)


def _overlay(values: dict[str, Any], nearer: Mapping[str, Any]) -> None:
    """Let a nearer source win; the place of the database is one choice, so it wins as a whole."""
    if any(nearer.get(name) for name in PLACES):
        for name in PLACES:
            values.pop(name, None)
    values.update(nearer)


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for variable, value in environ.items():
        if variable.startswith(PREFIX) and variable not in NO_SETTINGS:
            name = variable.removeprefix(PREFIX).lower()
            yield name, _read(name, value, variable)


def _from_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"the configuration file {path} cannot be read: {error}") from error


def _read(name: str, value: Any, label: str) -> Any:
    """The setting's value; a refusal names it as the user wrote it, and never repeats the value."""
    if name not in _BY_NAME:
        known = difflib.get_close_matches(name, _BY_NAME, n=1)
        written = PREFIX + known[0].upper() if known and label.startswith(PREFIX) else "".join(known)
        hint = f"did you mean {written}?" if known else "`windtunnel up --help` lists what there is"
        raise SettingsError(f"{label} is not a setting of this version: {hint}")
    try:
        return _BY_NAME[name].metadata["read"](value)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"{label}: {error}") from None
