"""How values read on a page, and how a deed is told."""

import ast
from typing import Any

import pytest

from app.console import rendering
from app.console.deeds import MOST, Deed, Deeds, aws_line, boto3_lines, command_line, httpx_lines
from app.console.forms import Form
from app.console.pages.events import gathered, place_of, read_place
from app.core.cluster_events import Event
from app.core.errors import Invalid
from app.core.times import from_millis
from app.usecases.overviews import SeenEvent


@pytest.mark.parametrize(
    ("micro", "told"),
    [
        (0, "$0.00"),
        (1, "$0.000001"),
        (9_999, "$0.009999"),
        (10_000, "$0.01"),
        (14_999, "$0.01"),
        (15_000, "$0.02"),
        (1_234_567_890_000, "$1,234,567.89"),
        (-5_000_000, "-$5.00"),
    ],
)
def test_money(micro: int, told: str) -> None:
    """To the cent, half up; less than a cent keeps its digits."""
    assert rendering.money(micro) == told


@pytest.mark.parametrize(
    ("milliseconds", "told"),
    [
        (None, "–"),
        (0, "0 ms"),
        (999, "999 ms"),
        (1000, "1 s"),
        (61_000, "1 min 1 s"),
        (3_600_000, "1 h"),
        (12_000_000, "3 h 20 min"),
        (86_400_000 * 3 + 3_600_000, "3 d 1 h"),
    ],
)
def test_span(milliseconds: int | None, told: str) -> None:
    assert rendering.span(milliseconds) == told


def test_instant() -> None:
    told = rendering.instant(from_millis(1_767_225_600_123))
    assert (
        told == '<time datetime="2026-01-01T00:00:00.123Z" title="2026-01-01T00:00:00.123Z">2026-01-01 00:00:00</time>'
    )


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(Exception, match="undefined"):
        rendering.environment().from_string("{{ nobody }}").render()


def test_all_is_escaped() -> None:
    assert rendering.environment().from_string("{{ x }}").render(x="<b>") == "&lt;b&gt;"


def test_a_command_is_quoted_for_the_shell() -> None:
    assert command_line("main", "fault", "rm", "f-1") == "windtunnel fault rm f-1"
    assert command_line("w-1", "job", "a b'c") == """windtunnel job 'a b'"'"'c' --world w-1"""
    line = aws_line("http://e", "us-west-2", "delete-cluster", ClusterName="demo")
    assert line == "aws sagemaker delete-cluster --endpoint-url http://e --region us-west-2 --cluster-name demo"


@pytest.mark.parametrize("value", ["a", '"', 3, None, True, [1, {"a": ["b" * 200]}], {"k": {"l": [1.5, "é" * 90]}}])
def test_python_is_python(value: Any) -> None:
    """What is told can be run: the call's members come back as they were."""
    told = boto3_lines("http://e", "us-west-2", "111122223333", "create_cluster", Member=value)
    call = ast.parse(told).body[-1]
    assert isinstance(call, ast.Expr)
    assert isinstance(call.value, ast.Call)
    assert ast.literal_eval(call.value.keywords[0].value) == value
    ast.parse(httpx_lines("http://e", "POST", "clock", {"by": value}))


def test_only_the_newest_deeds_are_kept() -> None:
    deeds = Deeds()
    numbers = [deeds.add("main", Deed(str(place), "", "")) for place in range(MOST + 1)]
    assert deeds.of("main", str(numbers[0])) is None
    assert deeds.of("other", str(numbers[-1])) is None, "another world's"
    assert deeds.of("main", "x") is None
    deeds.end("main", numbers[-1], "done", failed=False)
    kept = deeds.of("main", str(numbers[-1]))
    assert kept is not None
    assert (kept.title, kept.outcome) == (str(MOST), "done")


@pytest.mark.parametrize("value", ["", "1.5", "-", "0x1", "٣", "9" * 30, "-1", "11"])
def test_what_is_no_whole_number(value: str) -> None:
    with pytest.raises(Invalid):
        Form({"n": value}).whole("n", 0, 10)


def test_fields_of_a_form() -> None:
    form = Form({"n": " 1,000 ", "t": " x ", "empty": " ", "m": "-3"})
    assert (form.whole("n", 0, 1000), form.whole("m", -5, 0), form.text("t"), form.optional("empty")) == (
        1000,
        -3,
        "x",
        None,
    )
    assert form.whole("empty", 0, 9, 7) == 7
    with pytest.raises(Invalid, match="missing"):
        form.text("empty")
    with pytest.raises(Invalid, match="too long"):
        form.text("t", 0)


def seen(seq: int, instance: str | None, kind: str = "provisioned", second: int = 0) -> SeenEvent:
    event = Event(kind, from_millis(second * 1000), "workers", instance, f"logical-{seq}")
    return SeenEvent("111122223333", "us-west-2", "c1", "demo", seq, event)


def test_events_that_read_alike_are_one() -> None:
    """Of one moment, whatever lies between them, and but for the instance that they name."""
    events = [seen(5, "i-1"), seen(4, "i-1", "script-started"), seen(3, "i-2"), seen(2, "i-2", "script-started")]
    told = gathered([*events, seen(1, "i-3", second=-1)])
    assert [(one.node, one.times) for one in told] == [("i-1", 2), ("i-1", 2), ("i-3", 1)]


@pytest.mark.parametrize("text", ["1.2", "x.1.c", "1.x.c", "1." + "9" * 20 + ".c"])
def test_a_place_that_no_link_gives(text: str) -> None:
    with pytest.raises(Invalid):
        read_place(text)


def test_a_place_comes_back() -> None:
    one = seen(7, "i-1", second=3)
    assert read_place(place_of(one)) == (one.event.at, "c1", 7)
    assert read_place("") is None
