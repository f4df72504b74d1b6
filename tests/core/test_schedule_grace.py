"""While victims have their grace, who comes next evicts no more than he needs (FS-7)."""

from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.scheduling.decisions import Preempt
from tests.core.scheduling import Lab, check, of


def test_each_of_many_gangs_evicts_as_much_as_it_needs() -> None:
    """FS-7: on a host whose GPUs are held already, a victim's GPUs count whole."""
    lab = Lab(1)
    for number in range(8):
        lab.run(f"u{number}", None, 1)
    for number in range(4):
        lab.submit(f"f{number}", "a", 1)
    lab.step()
    victims = [len(made.victims) for made in of(lab.decisions, Preempt) if isinstance(made, Preempt)]
    assert victims == [1, 1, 1, 1]
    check(lab.state)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3), st.lists(st.integers(0, 3000), min_size=1, max_size=24))
def test_all_the_gpus_that_unfunded_work_holds_can_be_had_at_once(nodes: int, waits: list[int]) -> None:
    """FS-7, FS-3: each gang of one GPU evicts one of the unfunded, whoever still has his grace."""
    lab = Lab(nodes)
    for number in range(8 * nodes):
        lab.submit(f"u{number}", None, 1)
    lab.step()
    for number, wait in enumerate(waits[: 8 * nodes]):
        lab.wait(wait)
        lab.submit(f"f{number}", "a", 1)
        [made] = of(lab.step(), Preempt)
        assert isinstance(made, Preempt)
        assert len(made.victims) == 1
        check(lab.state)
