"""The filter language of Google's lists, and what it may ask of jobs."""

from datetime import UTC, datetime

import pytest

from app.core.errors import Invalid
from app.core.filters import Comparison, compiled, wildcard
from app.core.listing_filter import Vocabulary, predicate

VOCABULARY = Vocabulary(
    texts=frozenset({"display_name"}),
    times=frozenset({"create_time", "start_time"}),
    states=frozenset({"JOB_STATE_RUNNING", "JOB_STATE_FAILED"}),
)
THING = {
    "display_name": "my_job_1",
    "state": "JOB_STATE_RUNNING",
    "create_time": datetime(2026, 1, 1, 12, tzinfo=UTC),
    "labels": {"team": "red", "empty": ""},
}


def holds(text: str) -> bool:
    return predicate(text, VOCABULARY)(THING)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        'display_name="my_job_1"',
        "displayName = my_job_1",
        'display_name:"my_job_*"',
        "display_name:*_1",
        "display_name:m*job*1",
        "display_name!='other'",
        'state="JOB_STATE_RUNNING"',
        "state!=JOB_STATE_FAILED",
        "create_time>=2026-01-01T12:00:00Z",
        'create_time<"2026-01-01T14:00:00.000001+01:00"',
        "createTime = 2026-01-01T12:00:00",
        "labels.team=red",
        "labels.team:*",
        "labels:team",
        "labels.empty:*",
        "labels.team!=blue",
        "labels.team=(blue OR red)",
        "NOT labels.other:*",
        "-labels:other",
        "NOT (display_name=a OR display_name=b)",
        "NOT NOT labels:team",
        "labels:team state=JOB_STATE_RUNNING",
        "display_name=a OR labels:team AND state=JOB_STATE_RUNNING",
    ],
)
def test_what_holds(text: str) -> None:
    """VX-18: the operators that the protocol documents, in either spelling of the fields."""
    assert holds(text)


@pytest.mark.parametrize(
    "text",
    [
        "display_name=my_job",
        'display_name:"job"',
        "display_name:my_job_1*1",
        "create_time>2026-01-01T12:00:00Z",
        "start_time>2020-01-01T00:00:00Z",
        "start_time!=2020-01-01T00:00:00Z",
        "labels.other:*",
        "labels.team=blue",
        "labels:team AND state=JOB_STATE_FAILED",
        "state=JOB_STATE_RUNNING OR labels:team AND display_name=other",
        "NOT labels:team",
    ],
)
def test_what_does_not_hold(text: str) -> None:
    """VX-18: OR binds closer than AND; what is unset is neither before nor after anything."""
    assert not holds(text)


@pytest.mark.parametrize(
    ("text", "character", "said"),
    [
        ("foo=1", 1, "no field"),
        ("display_name=a AND foo=1", 20, "no field"),
        ("display_name", 1, "no field"),
        ("labels:team and labels:x", 13, "capitals"),
        ("display_name=", 14, "the end"),
        ("display_name=AND", 14, "where a value should be"),
        ("=a", 1, "where a field's name"),
        ("AND", 1, "where a field's name"),
        ("(labels:a", 10, "closing parenthesis"),
        ("labels.a=(b OR c", 17, "closing parenthesis"),
        ("labels:a)", 9, "follows"),
        ("state=RUNNING", 1, "no state"),
        ("state>JOB_STATE_RUNNING", 1, "not compared by >"),
        ("display_name<a", 1, "not compared by <"),
        ("create_time>noon", 1, "no instant"),
        ("create_time:*", 1, "not compared by :"),
        ("labels=a", 1, "not compared by ="),
        ('display_name="a', 14, "where a value should be"),
        ("(" * 10_000, 21, "levels"),
        ("NOT " * 10_000 + "labels:a", 20_001, "no filter is read beyond"),
        ("labels:a " * 300, 1801, "comparisons"),
        ("\x00", 1, "where a field's name"),
    ],
)
def test_what_cannot_be_read_names_its_place(text: str, character: int, said: str) -> None:
    """VX-18: and says what is wrong there; depth, length and number are bounded."""
    with pytest.raises(Invalid, match=rf"^Provided filter is not valid\. At character {character}: .*{said}"):
        predicate(text, VOCABULARY)


def test_a_vocabulary_is_asked_for_each_comparison() -> None:
    """Paths may be quoted, texts may stand alone, and escapes are of one character."""
    seen: list[Comparison] = []

    def vocabulary(comparison: Comparison) -> object:
        seen.append(comparison)
        return bool

    compiled(r"""labels."a.b/c"=~"x\"y" OR 'some text' -severity >= ERROR""", vocabulary)  # type: ignore[arg-type]
    assert [(each.path, each.operator, each.value, each.quoted) for each in seen] == [
        (("labels", "a.b/c"), "=~", 'x"y', True),
        ((), ":", "some text", True),
        (("severity",), ">=", "ERROR", False),
    ]


@pytest.mark.parametrize(
    ("pattern", "text", "is_like"),
    [
        ("a", "a", True),
        ("a", "ab", False),
        ("*", "", True),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("*b*", "abc", True),
        ("a**c", "abc", True),
        ("*a" * 5000 + "b", "a" * 5000, False),
    ],
)
def test_wildcards(pattern: str, text: str, is_like: bool) -> None:
    """Without the backtracking that a regular expression would fall into."""
    assert wildcard(pattern)(text) is is_like
