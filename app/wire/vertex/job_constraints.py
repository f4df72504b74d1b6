"""What the service asks of a CustomJobSpec, in canonical JSON. `path` is where the spec is in its resource."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.core.errors import Invalid
from app.core.job_spec import MOST_POOLS, scheduling
from app.core.machines import check_machine, gpus
from app.usecases.machines import machine, place
from app.wire.google.errors import Violation

MOST_VARIABLES = 100
MOST_PACKAGES = 100
DISKS = ("pd-ssd", "pd-standard", "hyperdisk-balanced")
LARGEST_DISK_GB = 64_000
LONGEST_FLEX_START_S = 7 * 86_400
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NETWORK = re.compile(r"projects/[0-9]+/global/networks/[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
Spec = Mapping[str, Any]


def broken(spec: Spec, path: str, region: str | None) -> Iterator[Violation]:
    """What is wrong with the spec of a job in the region, beside required fields that are unset; None: on the nodes of
    a cluster, which Vertex AI's regions and reservations have nothing to do with (VX-24)."""
    pools: Sequence[Spec] = spec.get("workerPoolSpecs", ())
    if len(pools) > MOST_POOLS:
        yield Violation(f"{path}.worker_pool_specs", f"There are {len(pools)} pools, of at most {MOST_POOLS}.")
    if pools and not pools[0]:
        yield Violation(f"{path}.worker_pool_specs[0]", "The first worker pool, of the primary replica, must be set.")
    elif pools and int(pools[0].get("replicaCount", 1)) != 1:
        yield Violation(f"{path}.worker_pool_specs[0].replica_count", "The first worker pool must have one replica.")
    strategy = scheduling(spec).strategy
    for number, pool in enumerate(pools):
        if pool:
            yield from _pool(pool, f"{path}.worker_pool_specs[{number}]", strategy, region)
    yield from _scheduling(spec, f"{path}.scheduling", pools)
    yield from _places(spec, path)


def _pool(pool: Spec, path: str, strategy: str, region: str | None) -> Iterator[Violation]:
    tasks = [name for name in ("containerSpec", "pythonPackageSpec") if name in pool]
    if not tasks:
        yield Violation(path, "One of container_spec and python_package_spec must be set.")
    if int(pool.get("replicaCount", 1)) < 1:
        yield Violation(f"{path}.replica_count", "Must be at least 1.")
    yield from _machine(pool.get("machineSpec", {}), f"{path}.machine_spec", strategy, region)
    yield from _disk(pool.get("diskSpec", {}), f"{path}.disk_spec")
    for task, field in (("containerSpec", "container_spec"), ("pythonPackageSpec", "python_package_spec")):
        yield from _variables(pool.get(task, {}).get("env", ()), f"{path}.{field}.env")
    packages = pool.get("pythonPackageSpec", {}).get("packageUris", ())
    if len(packages) > MOST_PACKAGES or not all(uri.startswith("gs://") for uri in packages):
        field = f"{path}.python_package_spec.package_uris"
        yield Violation(field, f"Must be up to {MOST_PACKAGES} URIs that begin with gs://.")


def _machine(given: Spec, path: str, strategy: str, region: str | None) -> Iterator[Violation]:
    name = given.get("machineType")
    if name is None:
        yield Violation(f"{path}.machine_type", "Required field is not set.")
        return
    accelerator, count = given.get("acceleratorType"), given.get("acceleratorCount", 0)
    if (accelerator is None) != (count == 0):
        told = "Both `accelerator_type` and `accelerator_count` should be specified or none."
        yield Violation(f"{path}.accelerator_type", told)
        return
    affinity = given.get("reservationAffinity", {})
    reserved = affinity.get("reservationAffinityType") == "SPECIFIC_RESERVATION"
    if reserved and not (affinity.get("key") and affinity.get("values")):
        yield Violation(f"{path}.reservation_affinity", "A specific reservation needs key and values.")
    try:
        if region is None:
            gpus(machine(name), accelerator, count)
        else:
            check_machine(machine(name), accelerator, count, strategy, place(region), reserved=reserved)
    except Invalid as error:
        yield Violation(f"{path}.machine_type", error.message)


def _disk(given: Spec, path: str) -> Iterator[Violation]:
    kind = given.get("bootDiskType", DISKS[0])
    if kind not in DISKS:
        yield Violation(f"{path}.boot_disk_type", f"'{kind[:80]}' is not supported. Use one of {', '.join(DISKS)}.")
    if not 0 <= given.get("bootDiskSizeGb", 0) <= LARGEST_DISK_GB:
        yield Violation(f"{path}.boot_disk_size_gb", f"Must be at most {LARGEST_DISK_GB}.")


def _variables(given: Sequence[Spec], path: str) -> Iterator[Violation]:
    names = [each["name"] for each in given if "name" in each]
    if len(given) > MOST_VARIABLES:
        yield Violation(path, f"There are {len(given)} variables. There can be at most {MOST_VARIABLES}.")
    if len(set(names)) < len(names):
        yield Violation(path, "EnvVar names must be unique.")
    for number, name in enumerate(names):
        if not _VARIABLE.fullmatch(name):
            yield Violation(f"{path}[{number}].name", f"'{name[:80]}' must be a valid C identifier.")


def _scheduling(spec: Spec, path: str, pools: Sequence[Spec]) -> Iterator[Violation]:
    given = spec.get("scheduling", {})
    is_flexible = given.get("strategy") == "FLEX_START"
    for name, field in (("timeout", "timeout"), ("maxWaitDuration", "max_wait_duration")):
        if given.get(name, "").startswith("-"):
            yield Violation(f"{path}.{field}", "Must not be negative.")
    if "maxWaitDuration" in given and not is_flexible:
        yield Violation(f"{path}.max_wait_duration", "Is only for the strategy FLEX_START.")
    if not is_flexible:
        return
    if float(given.get("timeout", "0s").removesuffix("s")) > LONGEST_FLEX_START_S:
        yield Violation(f"{path}.timeout", "Must be at most 7 days for the strategy FLEX_START.")
    machines = [pool.get("machineSpec") for pool in pools if pool]
    if any(each != machines[0] for each in machines):
        yield Violation(f"{path}.strategy", "FLEX_START needs the same machine_spec in all worker pools.")


def _places(spec: Spec, path: str) -> Iterator[Violation]:
    """What the spec names outside of itself."""
    network = spec.get("network")
    if network is not None and not _NETWORK.fullmatch(network):
        yield Violation(f"{path}.network", "Must be of the form projects/NUMBER/global/networks/NAME.")
    output = spec.get("baseOutputDirectory", {}).get("outputUriPrefix", "gs://")
    if not output.startswith("gs://"):
        yield Violation(f"{path}.base_output_directory.output_uri_prefix", "Must begin with gs://.")
    for name in ("tensorboard", "experiment"):
        if name in spec and "serviceAccount" not in spec:
            yield Violation(f"{path}.service_account", f"Must be set when {name} is.")
    if "persistentResourceId" in spec:
        told = f"There is no persistent resource '{spec['persistentResourceId'][:80]}': none can be created here."
        yield Violation(f"{path}.persistent_resource_id", f"{told} Leave it out to run on machines of the region.")
