"""VX-22: the catalogue's machines as core thinks with them."""

import pytest

from app import catalog
from app.core.errors import Invalid
from app.core.gang import _TERMS
from app.core.machines import check_machine, gpus, metrics
from app.store.ledger import Rate
from app.usecases import machines, prices


def test_every_machine_runs_somewhere_and_counts_somewhere() -> None:
    """VX-22: each type is taken in us-central1 with a strategy that it has, and uses a quota."""
    iowa = machines.place("us-central1")
    for name, row in catalog.machine_types().items():
        machine = machines.machine(name)
        strategy = "STANDARD" if row.on_demand else "SPOT"
        kinds = [(None, 0)] if name != "cloud-tpu" else []
        kinds += [(kind, counts[0]) for kind, counts in row.attachable.items()]
        for accelerator, count in kinds:
            check_machine(machine, accelerator, count, strategy, iowa, reserved=row.reservation)
            assert sum(metrics(machine, accelerator, count, strategy).values()) > 0


def test_an_unknown_type_is_refused_in_the_services_words() -> None:
    """VX-22: and the nearest types are named."""
    with pytest.raises(Invalid, match=r"^Machine type n1-standart-4 is not supported\. Did you mean n1-standard-4"):
        machines.machine("n1-standart-4")
    with pytest.raises(Invalid, match=r"^Machine type  is not supported\. Use a type such as"):
        machines.machine("")
    with pytest.raises(Invalid) as huge:
        machines.machine("x" * 1_000_000)
    assert len(huge.value.message) < 300


def test_gpus_go_by_hyperpods_names() -> None:
    assert gpus(machines.machine("a3-megagpu-8g"), None, 0) == ("h100-80gb", 8)


def test_what_a_worker_is_charged_for_has_a_price() -> None:
    """VX-23: core and the catalogue call what a strategy costs by the same names."""
    for name, good in catalog.goods().items():
        assert name == good.of + _TERMS[good.strategy]


def test_the_evidence_of_several_parts_is_that_of_the_weakest() -> None:
    """CT-5: a machine whose price is printed, with accelerators whose is not."""
    billed = {"n1-standard-4/spot": 1, "NVIDIA_TESLA_T4/spot": 2}
    rates = {"n1-standard-4/spot": Rate(100, "published"), "NVIDIA_TESLA_T4/spot": Rate(7, "placeholder")}
    assert prices.total(rates, billed) == Rate(114, "placeholder")
