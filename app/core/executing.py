"""A job's command as it really runs on this machine: its words, its environment, its ports (VX-16)."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from app.core.chance import below
from app.core.errors import Invalid
from app.core.job import Job
from app.core.job_spec import pools
from app.core.scope import Scope
from app.core.times import WorldTime

HOST = "127.0.0.1"
FIRST_PORT, PORTS = 10_240, 20_000
"""Where a job's ports begin: below those that Linux gives to whoever asks for any (chosen)."""
_MOUNTED = re.compile(
    r"(?<![\w./-])/gcs/(?P<bucket>[a-z0-9][a-z0-9._-]{1,220}[a-z0-9])(?P<name>(?:/[^\s'\"`;|&<>()]*)?)"
)
_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")
_ROLES = ("chief", "worker", "ps", "evaluator")
"""What TensorFlow calls the pools, by their places."""
_SCHEME = "gs://"
SPECS = ("CLUSTER_SPEC", "TF_CONFIG")
"""Variables that tell the job's whole spec, as it was given."""


@dataclass(frozen=True, slots=True)
class Start:
    """A run of a replica's program that is to begin; `size` is how many replicas the job has."""

    world: str
    job: Job
    pool: int
    ordinal: int
    run: int
    run_at: WorldTime

    @property
    def name(self) -> str:
        """The replica's, as `workerpool0-0`."""
        return f"workerpool{self.pool}-{self.ordinal}"

    @property
    def is_primary(self) -> bool:
        return self.pool == 0 and self.ordinal == 0

    @property
    def size(self) -> int:
        return sum(pool.replicas for pool in pools(self.job.spec))

    @property
    def task(self) -> Mapping[str, Any]:
        """The containerSpec or the pythonPackageSpec of its pool."""
        pool = self.job.spec["workerPoolSpecs"][self.pool]
        found: Mapping[str, Any] = pool.get("pythonPackageSpec") or pool.get("containerSpec") or {}
        return found

    @property
    def is_python(self) -> bool:
        """A Python package, and no container."""
        return "pythonPackageSpec" in self.job.spec["workerPoolSpecs"][self.pool]

    @property
    def packages(self) -> Sequence[str]:
        """Where in Cloud Storage its Python packages are."""
        return tuple(self.task.get("packageUris", ()))


class Held(NamedTuple):
    """A run, and under which claim of which executor it is; without one, nobody's yet."""

    world: str
    account: str
    region: str
    job_id: str
    pool: int
    ordinal: int
    executor: str | None
    claim: int | None

    @property
    def scope(self) -> Scope:
        return Scope(self.world, self.account, self.region)


def command(start: Start, python: str) -> list[str]:
    """The words of the command; `python` runs packages' modules. Invalid: there is none to run here."""
    task = start.task
    arguments = [*task.get("args", ())]
    if start.is_python:
        return [python, "-m", task.get("pythonModule", ""), *arguments]
    words = [*task.get("command", ())]
    if not words:
        raise Invalid(
            "The container has no command, and its image's own entry point is not on this machine. "
            "Give containerSpec.command, or run the service without execute_jobs."
        )
    return words + arguments


def environment(start: Start, given: Mapping[str, str]) -> dict[str, str]:
    """What the program finds: `given`, what the service sets, and the spec's own variables over both."""
    found = {**given, **_of_service(start), **start.job.environment}
    for variable in start.task.get("env", ()):
        found[variable["name"]] = _expanded(variable.get("value", ""), found)
    return {**found, **start.job.environment}


def _expanded(text: str, known: Mapping[str, str]) -> str:
    """`$(NAME)` by what is known; `$$` is a dollar that begins no reference."""

    def value(found: re.Match[str]) -> str:
        return "$" if found[1] is None else known.get(found[1], found[0])

    return _REFERENCE.sub(value, text)


def _of_service(start: Start) -> dict[str, str]:
    job = start.job
    found = {
        "CLOUD_ML_JOB_ID": job.job_id,
        "CLOUD_ML_PROJECT_ID": job.account,
        "CLOUD_ML_REGION": job.region,
        "CLUSTER_SPEC": json.dumps(_cluster_spec(start)),
    }
    if start.size > 1:
        found["TF_CONFIG"] = json.dumps(_tf_config(start))
    base = job.spec.get("baseOutputDirectory", {}).get("outputUriPrefix")
    if base:
        places = {"AIP_MODEL_DIR": "model", "AIP_CHECKPOINT_DIR": "checkpoints", "AIP_TENSORBOARD_LOG_DIR": "logs"}
        found |= {name: f"{base.rstrip('/')}/{folder}/" for name, folder in places.items()}
    if job.spec.get("tensorboard"):
        found["AIP_TENSORBOARD_RESOURCE_NAME"] = job.spec["tensorboard"]
    return found


def hosts(start: Start) -> dict[int, list[str]]:
    """Addresses on loopback by pool: each replica has one port, the same in all its runs."""
    port = FIRST_PORT + below(0, f"{start.world}/{start.job.job_id}", "ports", PORTS)
    found: dict[int, list[str]] = {}
    for pool in pools(start.job.spec):
        found[pool.index] = [f"{HOST}:{port + ordinal}" for ordinal in range(pool.replicas)]
        port += pool.replicas
    return found


def _cluster_spec(start: Start) -> dict[str, Any]:
    return {
        "cluster": {f"workerpool{index}": some for index, some in hosts(start).items()},
        "environment": "cloud",
        "task": _task(start, f"workerpool{start.pool}"),
        "job": start.job.spec,
    }


def _tf_config(start: Start) -> dict[str, Any]:
    """An evaluator knows the cluster and is no part of it."""
    cluster = {_ROLES[index]: some for index, some in hosts(start).items() if _ROLES[index] != "evaluator"}
    return {
        "cluster": cluster,
        "environment": "cloud",
        "task": {**_task(start, _ROLES[start.pool]), "cloud": start.job.job_id},
        "job": start.job.spec,
    }


def _task(start: Start, kind: str) -> dict[str, Any]:
    trial = {"trial": start.job.trial_id} if start.job.trial_id is not None else {}
    return {"type": kind, "index": start.ordinal, **trial}


def mounted(texts: Iterable[str]) -> list[tuple[str, str]]:
    """The buckets and names of objects, or of folders of them, that the texts mean by paths under `/gcs`."""
    found = (match for text in texts for match in _MOUNTED.finditer(text))
    return sorted({(match["bucket"], match["name"].strip("/")) for match in found})


def relocated(text: str, root: str) -> str:
    """The text with `root` in place of `/gcs`."""
    return _MOUNTED.sub(lambda match: f"{root}/{match['bucket']}{match['name']}", text)


def place_of(uri: str) -> tuple[str, str]:
    """Bucket and name of `gs://bucket/name`. Invalid."""
    bucket, slash, name = uri.removeprefix(_SCHEME).partition("/")
    if not uri.startswith(_SCHEME) or not slash or not name:
        raise Invalid(f"The package '{uri[:200]}' is at no place of Cloud Storage. Give gs://BUCKET/NAME.")
    return bucket, name


def exit_code(status: int, *, python: bool) -> int:
    """As the service tells it: a signal's number with a Python package, and 128 more in a container (VX-11)."""
    if status >= 0:
        return min(status, 255)
    return -status if python else min(128 - status, 255)
