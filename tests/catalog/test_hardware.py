"""CT-5: instance types and accelerators are the model's, complete, and say where they are from."""

from datetime import date

import botocore.session
import pytest

from app import catalog
from app.catalog.tables import table


def model_types() -> list[str]:
    loader = botocore.session.get_session().get_component("data_loader")
    return list(loader.load_service_model("sagemaker", "service-2")["shapes"]["ClusterInstanceType"]["enum"])


def test_the_catalogue_has_exactly_the_models_types_in_its_order() -> None:
    """CT-5: a value that the model gains fails here until the catalogue has a row for it."""
    assert [row["name"] for row in table("instance_types")["types"]] == model_types()


def test_every_row_has_every_field() -> None:
    """CT-5: hardware, evidence, source and date stand on each row; nothing is left out by accident."""
    fields = {
        "name",
        "arch",
        "vcpu",
        "memory_mib",
        "accelerator",
        "accelerators",
        "efa",
        "source",
        "evidence",
    }
    assert all(set(row) == fields for row in table("instance_types")["types"])
    for kind in catalog.instance_types().values():
        assert kind.vcpu > 0
        assert kind.memory_mib > 0
        assert kind.efa >= 0
        assert kind.arch in {"x86_64", "arm64"}
        assert (kind.gpu is None) == (kind.accelerators == 0), kind.name
        assert kind.evidence in {"published", "general-knowledge", "placeholder"}
        assert kind.source
        assert type(kind.date) is date


@pytest.mark.parametrize(
    ("name", "gpu", "accelerators", "vcpu", "gib", "efa"),
    [
        ("ml.p4d.24xlarge", "a100-40gb", 8, 96, 1152, 4),
        ("ml.p4de.24xlarge", "a100-80gb", 8, 96, 1152, 4),
        ("ml.p5.4xlarge", "h100-80gb", 1, 16, 256, 1),
        ("ml.p5.48xlarge", "h100-80gb", 8, 192, 2048, 32),
        ("ml.p5e.48xlarge", "h200-141gb", 8, 192, 2048, 32),
        ("ml.p5en.48xlarge", "h200-141gb", 8, 192, 2048, 16),
        ("ml.p6-b200.48xlarge", "b200", 8, 192, 2048, 8),
        ("ml.p6-b300.48xlarge", "b300", 8, 192, 4096, 16),
        ("ml.g6e.12xlarge", "l40s", 4, 48, 384, 1),
        ("ml.trn1.32xlarge", "trainium", 16, 128, 512, 8),
        ("ml.trn2.48xlarge", "trainium2", 16, 192, 2048, 16),
        ("ml.m5.24xlarge", None, 0, 96, 384, 0),
        ("ml.c5.9xlarge", None, 0, 36, 72, 0),
        ("ml.t3.medium", None, 0, 2, 4, 0),
    ],
)
def test_known_types_have_their_known_hardware(
    name: str, gpu: str | None, accelerators: int, vcpu: int, gib: int, efa: int
) -> None:
    """CT-5: figures from a second source (a survey of DescribeInstanceTypes of 2026-10-04) agree."""
    kind = catalog.instance_type(name)
    found = (kind.gpu.name if kind.gpu else None, kind.accelerators, kind.vcpu, kind.memory_mib, kind.efa)
    assert found == (gpu, accelerators, vcpu, gib * 1024, efa)


def test_a_type_that_is_newer_than_the_catalogue_is_usable_and_marked() -> None:
    """CT-5: what is guessed says so."""
    kind = catalog.instance_type("ml.z99.8xlarge")
    assert (kind.vcpu, kind.memory_mib, kind.gpu) == (32, 32 * 4096, None)
    assert kind.evidence == "placeholder"
    assert catalog.instance_type("ml.z99.large").vcpu == 2


@pytest.mark.parametrize("name", ["", "p5.48xlarge", "ml.p5", "ml.p5.huge", "ml.p5.48xlarge\n", "ml.p5.²xlarge"])
def test_what_is_no_type_is_refused_with_what_to_do(name: str) -> None:
    """CT-5: no price and no hardware for a word that is no type."""
    with pytest.raises(LookupError, match="must look like ml"):
        catalog.instance_type(name)


@pytest.mark.parametrize("name", ["H100", "NVIDIA_H100_80GB", "nvidia-h100-80gb", "h100 80GB", "h100-80gb"])
def test_both_clouds_names_mean_one_model(name: str) -> None:
    """VX-22: eight H100 of an a3-highgpu-8g are eight of an ml.p5.48xlarge."""
    kind = catalog.instance_type("ml.p5.48xlarge")
    assert catalog.gpu(name) is kind.gpu
    assert kind.accelerator_memory_mib == 8 * 80 * 1024


VERTEX = """
TESLA_P100 TESLA_V100 TESLA_P4 TESLA_T4 TESLA_A100 A100_80GB L4 H100_80GB H100_MEGA_80GB H200_141GB B200 GB200
RTX_PRO_6000
"""


@pytest.mark.parametrize("name", VERTEX.split())
def test_every_gpu_of_vertex_has_a_model(name: str) -> None:
    """VX-22: no current GPU of Vertex AI's AcceleratorType is without a row."""
    assert catalog.gpu(f"NVIDIA_{name}").vendor == "nvidia"


def test_no_two_models_share_a_name() -> None:
    """VX-22: an alias means one model; A100, which has two sizes, means none."""
    for model in catalog.gpus().values():
        assert all(catalog.gpu(word) is model for word in (model.name, model.product, *model.aliases))
    with pytest.raises(LookupError, match="Known models: a100-40gb"):
        catalog.gpu("A100")
