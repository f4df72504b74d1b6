"""Every setting of the service, frozen, from one place: flags over `WINDTUNNEL_*` over a file (CT-13)."""

import difflib
import ipaddress
import os
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

PREFIX = "WINDTUNNEL_"
CONFIG_VARIABLE = "WINDTUNNEL_CONFIG"


class SettingsError(Exception):
    """A setting that cannot be used; the text names it, says why and what to do. Exit code 2."""


def _comma_separated(value: object) -> object:
    """`a, b` as the environment writes a list; a TOML list passes as it is."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


Words = Annotated[tuple[str, ...], BeforeValidator(_comma_separated)]


class Settings(BaseModel):
    """What one process of the service is told. Built by `load`; a test may build it directly."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    host: str = "127.0.0.1"
    port: int = Field(4600, ge=0, le=65535, description="0 takes a free port")
    endpoint: str | None = Field(None, description="where the command line finds the service")

    database_url: str | None = Field(None, repr=False, description="None: the embedded Postgres")
    data: Path | None = Field(None, description="None: `default_data_dir()`")
    ephemeral: bool = False
    api_pool_size: int = Field(10, ge=1, le=200)
    lease_seconds: float = Field(10.0, gt=0, description="wall time")
    poll_seconds: float = Field(0.25, gt=0, description="wall time")

    profile: Literal["instant", "fast", "realistic"] = "fast"
    rate: float = Field(1.0, gt=0, allow_inf_nan=False, description="virtual seconds a wall second")
    frozen: bool = False
    start: datetime | None = Field(None, description="where world `main` starts; None: now")
    seed: int = Field(1, ge=0, lt=2**63)
    seed_file: Path | None = None
    events_per_cluster: int = Field(10_000, ge=1)
    default_region: str = Field("us-west-2", pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9]+$")
    default_account: str = Field("111122223333", pattern=r"^[0-9]{12}$")
    slurm_default_mode: Literal["classic", "continuous"] = "classic"

    auth: Literal["off", "verify"] = "off"
    access_keys: Words = Field((), repr=False, description="AKID:SECRET, comma-separated")
    control_token: str | None = Field(None, min_length=1, repr=False)
    allowed_hosts: Words = ()

    log_format: Literal["auto", "human", "json"] = "auto"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    supervised: bool = Field(False, description="set by `windtunnel up` for its children")
    listen_fd: int | None = Field(None, ge=3, description="set by `windtunnel up` for its API")

    @field_validator("start")
    @classmethod
    def _start_is_an_instant(cls, value: datetime | None) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("needs an offset from UTC, as in 2026-01-01T00:00:00Z")
        return value.astimezone(UTC).replace(microsecond=0)

    @field_validator("access_keys")
    @classmethod
    def _keys_are_pairs(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(not all(pair.partition(":")[::2]) for pair in value):
            raise ValueError("must be AKID:SECRET pairs separated by commas")
        return value

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if not is_loopback(self.host) and not self.control_token:
            raise ValueError(  # CT-14, RL-23
                f"host {self.host} is reachable from other machines, so the control API needs a token: "
                f"set {PREFIX}CONTROL_TOKEN, or use --host 127.0.0.1"
            )
        places = {"ephemeral": self.ephemeral, "data": self.data, "database_url": self.database_url}
        chosen = [name for name, value in places.items() if value]
        if len(chosen) > 1 and not self.supervised:
            raise ValueError(f"{' and '.join(chosen)} exclude each other: keep one of them")
        if self.auth == "verify" and not self.access_keys:
            raise ValueError(f"auth verify needs keys to verify against: set {PREFIX}ACCESS_KEYS=AKID:SECRET")
        return self

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

    def environment_names(self) -> list[str]:
        """The variables of `environment`, without their values: safe to show."""
        return sorted(self.environment())

    def environment(self) -> dict[str, str]:
        """The `WINDTUNNEL_*` variables that give a child process these settings."""
        plain = self.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        return {
            PREFIX + name.upper(): ",".join(value) if isinstance(value, list) else str(value)
            for name, value in plain.items()
        }


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
    config = config or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    values: dict[str, Any] = {}
    labels: dict[str, str] = {}
    for name, value in (_from_file(config) if config else {}).items():
        _accept(values, labels, name, value, f"{name} in {config}")
    for variable, value in environ.items():
        if variable.startswith(PREFIX) and variable != CONFIG_VARIABLE:
            _accept(values, labels, variable.removeprefix(PREFIX).lower(), value, variable)
    for name, value in (flags or {}).items():
        if value is not None:
            _accept(values, labels, name, value, f"--{name.replace('_', '-')}")
    return _build(values, labels)


def _from_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"the configuration file {path} cannot be read: {error}") from error


def _accept(values: dict[str, Any], labels: dict[str, str], name: str, value: object, label: str) -> None:
    if name not in Settings.model_fields:
        known = difflib.get_close_matches(name, Settings.model_fields, n=1)
        written = PREFIX + known[0].upper() if known and label.startswith(PREFIX) else "".join(known)
        hint = f"did you mean {written}?" if known else "`windtunnel up --help` lists what there is"
        raise SettingsError(f"{label} is not a setting of this version: {hint}")
    values[name], labels[name] = value, label


def _build(values: dict[str, Any], labels: dict[str, str]) -> Settings:
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        lines = []
        for problem in error.errors(include_url=False, include_input=False):
            field = str(problem["loc"][0]) if problem["loc"] else ""
            message = problem["msg"].removeprefix("Value error, ")
            lines.append(f"{labels.get(field, field)}: {message}" if field else message)
        raise SettingsError("; ".join(lines)) from None
