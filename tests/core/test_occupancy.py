"""What was kept for whom, from what began and ended it."""

from app.core.occupancy import Kept, paired


def test_reservations_are_told_from_what_began_and_ended_them() -> None:
    """FS-9: one that follows on another of the same workload ends it."""
    found = paired(
        [
            ("a", 1, ["n0"], 50),
            ("b", 2, ["n1"], 60),
            ("a", 3, None, None),
            ("b", 4, ["n2"], 70),
            ("c", 5, None, None),
        ]
    )
    assert found == [Kept("a", ["n0"], 1, 50, 3), Kept("b", ["n1"], 2, 60, 4), Kept("b", ["n2"], 4, 70)]
