"""VX-22: quotas of custom training by Google's names."""

from app import catalog
from app.catalog.tables import table
from app.catalog.vertex_quotas import METRIC
from app.core import machines as core
from app.usecases import machines


def test_none_limits_by_default() -> None:
    """CT-4: unlimited; what a new project has is kept as a fact, by region."""
    for region in catalog.vertex_regions():
        assert all(quota.limit is None and quota.source for quota in catalog.vertex_quotas(region).values())
    here, there = (catalog.vertex_quotas(region)[METRIC + "nvidia_v100_gpus"] for region in ("us-central1", "us-west1"))
    assert (here.recorded, here.evidence) == (6, "published")
    assert (there.recorded, there.evidence) == (None, "placeholder")


def test_each_row_is_of_a_quota() -> None:
    """VX-22: a slip of the pen in a kind or a region would never be seen."""
    names = catalog.vertex_quotas("us-central1")
    for row in table("vertex_quotas")["quotas"]:
        assert METRIC + row["kind"] in names
        assert set(row["documented"]) <= {"*", *catalog.vertex_regions()}


def test_what_a_replica_uses_is_a_quota() -> None:
    """VX-22: whatever the machine, the accelerator and the strategy."""
    names = set(catalog.vertex_quotas("us-central1"))
    assert METRIC == core.METRIC
    for name, row in catalog.machine_types().items():
        kinds = [(None, 0)] if name != "cloud-tpu" else []
        kinds += [(kind, counts[0]) for kind, counts in row.attachable.items()]
        for accelerator, count in kinds:
            for strategy in (core.STANDARD, core.SPOT, core.FLEX_START):
                assert set(core.metrics(machines.machine(name), accelerator, count, strategy)) <= names
