"""VX-22: machine types, accelerators and regions of Vertex AI as data."""

import pytest

from app import catalog
from app.catalog.tables import table


def test_accelerators_are_the_sdks_enum() -> None:
    """VX-22: every value, by name and number, but for the one that means none."""
    from google.cloud.aiplatform_v1 import AcceleratorType

    ours = {one.name: one.number for one in catalog.accelerators().values()}
    assert ours == {one.name: int(one) for one in AcceleratorType if int(one)}


def test_gpus_are_the_models_of_hyperpod() -> None:
    """VX-22: eight H100 of an a3-highgpu-8g are eight of an ml.p5.48xlarge; the models go by the same names."""
    p5, a3 = catalog.instance_type("ml.p5.48xlarge"), catalog.machine_types()["a3-highgpu-8g"]
    assert a3.accelerator is not None
    assert (p5.gpu, p5.accelerators) == (catalog.accelerators()[a3.accelerator].gpu, a3.accelerators)
    for one in catalog.accelerators().values():
        assert one.gpu is None or catalog.gpu(one.name) is one.gpu
        assert (one.gpu is None) == (one.name.startswith("TPU") or one.name == "NVIDIA_TESLA_K80")


def test_regions_are_the_sdks() -> None:
    """VX-22: each with zones; the SDK refuses any other, and takes `global` for other services."""
    from google.cloud.aiplatform.constants.base import SUPPORTED_REGIONS

    regions = catalog.vertex_regions()
    assert set(regions) == set(SUPPORTED_REGIONS) - {"global"}
    assert all(
        len(region.zones) >= 3 and zone.startswith(region.name) for region in regions.values() for zone in region.zones
    )
    assert regions["us-central1"].zones[-1] == "us-central1-f"
    assert regions["us-central1"].evidence == "published"
    offered = {name for region in regions.values() for name in region.accelerators or ()}
    assert offered <= set(catalog.accelerators())


def test_an_unknown_region_is_made_up_and_says_so() -> None:
    made_up = catalog.vertex_region("moon-central1")
    assert (made_up.zones[0], made_up.accelerators, made_up.evidence) == ("moon-central1-a", None, "placeholder")


@pytest.mark.parametrize(
    ("name", "vcpus", "memory_gb", "accelerator", "accelerators"),
    [
        ("n1-standard-4", 4, 15, None, 0),
        ("n1-highcpu-16", 16, 14.4, None, 0),
        ("n1-highmem-96", 96, 624, None, 0),
        ("e2-standard-4", 4, 16, None, 0),
        ("n4-highcpu-80", 80, 160, None, 0),
        ("m1-megamem-96", 96, 1433.6, None, 0),
        ("a2-megagpu-16g", 96, 1360, "NVIDIA_TESLA_A100", 16),
        ("a2-ultragpu-8g", 96, 1360, "NVIDIA_A100_80GB", 8),
        ("a3-highgpu-8g", 208, 1872, "NVIDIA_H100_80GB", 8),
        ("a3-megagpu-8g", 208, 1872, "NVIDIA_H100_MEGA_80GB", 8),
        ("a3-ultragpu-8g", 224, 2952, "NVIDIA_H200_141GB", 8),
        ("a4-highgpu-8g", 224, 3968, "NVIDIA_B200", 8),
        ("g2-standard-32", 32, 128, "NVIDIA_L4", 1),
        ("g4-standard-384", 384, 1440, "NVIDIA_RTX_PRO_6000", 8),
    ],
)
def test_machine_types(name: str, vcpus: int, memory_gb: float, accelerator: str | None, accelerators: int) -> None:
    """VX-22: figures of the families, as Compute Engine prints them."""
    found = catalog.machine_types()[name]
    assert (found.vcpus, found.memory_gb, found.accelerator, found.accelerators) == (
        vcpus,
        memory_gb,
        accelerator,
        accelerators,
    )


def test_every_machine_type_is_whole() -> None:
    """VX-22: a known accelerator, a source and a day; families and attachments that are used; no type twice."""
    document, machines = table("vertex_machines"), catalog.machine_types()
    assert len(document["types"]) == len(machines)
    for one in machines.values():
        assert one.source and one.vcpus > 0 and one.memory_gb > 0
        assert set(one.attachable) | ({one.accelerator} if one.accelerator else set()) <= set(catalog.accelerators())
        assert (one.accelerator is None) == (one.accelerators == 0)
        assert not (one.accelerator and one.attachable)
        assert one.cpu_quota is not None or one.accelerator or one.attachable, "nothing would count it"
    assert set(document["families"]) == {row["family"] for row in document["types"]}
    assert set(document["attachments"]) == {row["attach"] for row in document["types"] if "attach" in row}


def test_what_is_not_sold_on_demand() -> None:
    """VX-22: a3-highgpu smaller than 8g are for SPOT and FLEX_START, a4x for reservations."""
    machines = catalog.machine_types()
    assert {one.name for one in machines.values() if not one.on_demand} == {f"a3-highgpu-{n}g" for n in (1, 2, 4)}
    assert {one.name for one in machines.values() if one.reservation} == {"a4x-highgpu-4g"}


def test_attachments_are_the_published_table() -> None:
    """VX-22: N1 takes P4, P100, T4 and V100 in numbers that grow with the type."""
    machines = catalog.machine_types()
    assert machines["n1-standard-8"].attachable["NVIDIA_TESLA_V100"] == (1, 2, 4, 8)
    assert machines["n1-highcpu-16"].attachable["NVIDIA_TESLA_V100"] == (2, 4, 8)
    assert machines["n1-highmem-32"].attachable["NVIDIA_TESLA_T4"] == (2, 4)
    assert machines["n1-standard-96"].attachable["NVIDIA_TESLA_T4"] == (4,)
    assert not machines["e2-standard-4"].attachable
