"""Names, preconditions, ranges and pieces of Cloud Storage's objects."""

from typing import Any

import pytest

from app.core.errors import Invalid
from app.core.objects import (
    STEP,
    OutOfRange,
    Piece,
    StoredObject,
    Unchanged,
    Unmet,
    Upload,
    check_bucket,
    check_conditions,
    check_object,
    check_reader,
    next_generation,
    piece_of,
    span_of,
    taken,
    told_anew,
)
from tests.core.builders import T0, at

FOUND = StoredObject("bkt", "a", 7, 2, 7, 3, "", None, None, {}, T0, T0)
MICROS = 1_767_225_600_000_000


def upload(**facts: Any) -> Upload:
    return Upload("bkt", "u", 1, "a", {}, {}, {}, T0, **facts)


@pytest.mark.parametrize("name", ["bkt", "a-b_c.d", "0ab", "a" * 63, ".".join(["a" * 63] * 3), "1.2.3", "p1-staging"])
def test_buckets_have_names(name: str) -> None:
    """VX-20: 3 to 63 characters, or up to 222 with dots."""
    check_bucket(name)


@pytest.mark.parametrize(
    "name",
    ["", "ab", "A-b", "-ab", "ab-", "a b", "a/b", "a..b", "a" * 64, "a.b." + "a" * 64, "1.2.3.4", "goog-a", "my-google",
     "bkt\n", "bkt\0", "büc", "../etc"],
)  # fmt: skip
def test_other_names_are_refused(name: str) -> None:
    """VX-20: with the rules told."""
    with pytest.raises(Invalid, match=r"^Invalid bucket name: '.*'\. A name has 3 to 63"):
        check_bucket(name)


@pytest.mark.parametrize("name", ["a", "a/../b", "../a", "/", "//", "a%2Fb", "日本", "é" * 512, " ", "#?[]*", "..."])
def test_objects_have_names_and_not_paths(name: str) -> None:
    """VX-20: nearly everything is a name."""
    check_object(name)


@pytest.mark.parametrize("name", ["", ".", "..", "a\nb", "a\rb", "a\0b", "é" * 513, ".well-known/acme-challenge/x"])
def test_some_names_are_disallowed(name: str) -> None:
    """VX-20: as the service's documents list them; NUL because no database keeps it."""
    with pytest.raises(Invalid):
        check_object(name)


def test_generations_only_rise() -> None:
    """VX-20: microseconds of the world's time, also where it stands still."""
    assert next_generation(0, T0) == MICROS
    assert next_generation(MICROS, T0) == MICROS + 1
    assert next_generation(MICROS + 1, at(1)) == MICROS + 1_000_000


@pytest.mark.parametrize(
    ("conditions", "found", "holds"),
    [
        ({}, None, True), ({}, FOUND, True),
        ({"ifGenerationMatch": 0}, None, True), ({"ifGenerationMatch": 0}, FOUND, False),
        ({"ifGenerationMatch": 7}, FOUND, True), ({"ifGenerationMatch": 7}, None, False),
        ({"ifGenerationNotMatch": 0}, None, False), ({"ifGenerationNotMatch": 0}, FOUND, True),
        ({"ifGenerationNotMatch": 7}, FOUND, False), ({"ifMetagenerationMatch": 2}, FOUND, True),
        ({"ifMetagenerationMatch": 1}, FOUND, False), ({"ifMetagenerationNotMatch": 2}, FOUND, False),
        ({"ifGenerationMatch": 7, "ifMetagenerationMatch": 1}, FOUND, False),
    ],
)  # fmt: skip
def test_writers_have_preconditions(conditions: dict[str, int], found: StoredObject | None, holds: bool) -> None:
    """VX-20: generation 0 stands for an object that is not there."""
    if holds:
        check_conditions(conditions, found)
    else:
        with pytest.raises(Unmet):
            check_conditions(conditions, found)


def test_a_reader_is_told_that_nothing_changed() -> None:
    """VX-20: 304 for what must differ and does not, 412 for what must match and does not."""
    check_reader({"ifGenerationMatch": 7, "ifMetagenerationNotMatch": 1}, FOUND)
    with pytest.raises(Unchanged):
        check_reader({"ifGenerationNotMatch": 7}, FOUND)
    with pytest.raises(Unmet):
        check_reader({"ifGenerationMatch": 8, "ifGenerationNotMatch": 7}, FOUND)


@pytest.mark.parametrize(
    ("header", "span"),
    [
        (None, None), ("", None), ("bytes=0-", range(10)), ("bytes=0-0", range(1)), ("bytes=9-9", range(9, 10)),
        ("bytes=3-99", range(3, 10)), ("bytes=-4", range(6, 10)), ("bytes=-99", range(10)), ("bytes=5-2", None),
        ("bytes=0-1,3-4", None), ("bytes=a-b", None), ("items=0-1", None), ("bytes=--1", None),
        ("bytes=0-" + "9" * 19, range(10)), ("bytes=0-" + "9" * 20, None),
    ],
)  # fmt: skip
def test_ranges(header: str | None, span: range | None) -> None:
    """VX-20: what is not understood asks for all of it."""
    assert span_of(header, 10) == span


@pytest.mark.parametrize(("header", "size"), [("bytes=10-", 10), ("bytes=99-100", 10), ("bytes=-0", 10),
                                              ("bytes=0-", 0), ("bytes=-1", 0)])  # fmt: skip
def test_ranges_of_nothing(header: str, size: int) -> None:
    """VX-20: they say how much there is."""
    with pytest.raises(OutOfRange) as refused:
        span_of(header, size)
    assert refused.value.size == size


def test_pieces() -> None:
    """VX-20: what a Content-Range says of a body, and that the body is so long."""
    assert piece_of(None, 5) == Piece(0, 5, 5)
    assert piece_of("bytes 0-4/*", 5) == Piece(0, 5, None)
    assert piece_of("bytes 5-9/10", 5) == Piece(5, 5, 10)
    assert piece_of("bytes */*", 0) == Piece(None, 0, None)
    assert piece_of("bytes */10", 0) == Piece(None, 0, 10)
    for wrong, size in (("bytes 0-4/*", 4), ("bytes 4-0/*", 0), ("bytes */*", 1), ("0-4/5", 5), ("bytes 0-4", 5),
                        ("bytes -4/5", 5), ("bytes 0-4/5x", 5)):  # fmt: skip
        with pytest.raises(Invalid):
            piece_of(wrong, size)


def test_what_is_kept_of_a_piece() -> None:
    """VX-20: full steps, until the last piece; never twice."""
    assert taken(upload(), Piece(0, STEP + 5, None)) == (range(STEP), False)
    assert taken(upload(), Piece(0, 5, 5)) == (range(5), True)
    assert taken(upload(total=5), Piece(0, 5, None)) == (range(5), True)
    assert taken(upload(), Piece(0, 0, 0)) == (range(0), True)
    assert taken(upload(received=STEP), Piece(0, STEP + 5, STEP + 5)) == (range(STEP, STEP + 5), True)
    assert taken(upload(received=STEP), Piece(0, 10, None)) == (range(STEP, STEP), False)
    assert taken(upload(received=STEP), Piece(None, 0, None)) == (range(STEP, STEP), False)
    assert taken(upload(received=STEP), Piece(None, 0, STEP)) == (range(STEP, STEP), True)


@pytest.mark.parametrize(
    ("begun", "piece"),
    [
        (upload(), Piece(1, 4, 5)), (upload(total=5), Piece(0, 5, 6)), (upload(), Piece(0, 6, 5)),
        (upload(total=5), Piece(0, 6, None)), (upload(received=STEP), Piece(None, 0, 5)),
    ],
)  # fmt: skip
def test_pieces_that_do_not_fit(begun: Upload, piece: Piece) -> None:
    """VX-20: a gap, another size, and more than the size."""
    with pytest.raises(Invalid):
        taken(begun, piece)


def test_attributes_are_told_anew() -> None:
    """VX-20: member by member, and of the metadata key by key; nothing takes away."""
    former = {"contentType": "text/plain", "metadata": {"a": "1", "b": "2"}}
    assert told_anew(former, {}) == former
    assert told_anew(former, {"contentType": None, "metadata": {"a": None, "c": "3"}}) == {
        "metadata": {"b": "2", "c": "3"}
    }
    assert told_anew(former, {"metadata": None}) == {"contentType": "text/plain"}
    assert told_anew(former, {"metadata": {"a": None, "b": None}}) == {"contentType": "text/plain"}
