"""slurm.conf in merge mode (HP-12): the groups' lines follow the groups, every other byte is the user's."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.errors import Invalid
from app.core.slurm_conf import MOST_NAMES, GroupView, check, first_text, hosts, merge

GPU, CPU = "CPUs=192 Gres=gpu:8", "CPUs=4"


def view(*names: str, partition: str | None = "gpu", options: str = GPU, generation: int = 0) -> GroupView:
    return GroupView((partition,) if partition else (), {options: names} if names else {}, generation)


def test_a_group_has_a_line_of_nodes_and_a_partition() -> None:
    """HP-12."""
    text = merge(first_text("demo", "ip-10-0-0-1"), {}, {"workers": view("a", "b")})
    assert "ClusterName=demo\nSlurmctldHost=ip-10-0-0-1\n" in text
    assert text.endswith(
        "\n\nNodeName=a,b CPUs=192 Gres=gpu:8\nPartitionName=gpu Nodes=a,b MaxTime=INFINITE State=UP\n"
    )


def test_two_groups_may_share_a_partition() -> None:
    """HP-12: one line for both; when one goes it stays for the other."""
    both = {"one": view("a"), "two": view("b", options=CPU)}
    text = merge("", {}, both)
    assert text == "NodeName=a CPUs=192 Gres=gpu:8\nNodeName=b CPUs=4\n" + _partition("gpu", "a,b")
    assert merge(text, both, {"two": both["two"]}) == "NodeName=b CPUs=4\n" + _partition("gpu", "b")
    assert merge(text, both, {}) == ""


def _partition(name: str, nodes: str) -> str:
    return f"PartitionName={name} Nodes={nodes} MaxTime=INFINITE State=UP\n"


def test_a_group_of_several_types_has_a_line_for_each() -> None:
    """HP-12."""
    mixed = GroupView(("gpu",), {GPU: ("a",), CPU: ("b",)})
    text = merge("", {}, {"g": mixed})
    assert text == "NodeName=a CPUs=192 Gres=gpu:8\nNodeName=b CPUs=4\n" + _partition("gpu", "a,b")
    fewer = {"g": GroupView(("gpu",), {CPU: ("b",)})}
    assert merge(text, {"g": mixed}, fewer) == "NodeName=b CPUs=4\n" + _partition("gpu", "b")


def test_a_partition_without_nodes_is_there_and_empty() -> None:
    assert merge("", {}, {"g": view()}) == _partition("gpu", '""')


def test_only_the_lines_of_a_changed_group_are_rewritten() -> None:
    """HP-12: no drift is detected, so what a user made of another group's lines stays."""
    before = {"one": view("a", partition="x"), "two": view("b", partition="y")}
    text = "NodeName=a Weight=5\n# between\nNodeName=b Weight=9\nPartitionName=x Nodes=a Default=YES\nPartitionName=y\n"
    after = before | {"two": view("b", "c", partition="y")}
    assert merge(text, before, after) == (
        "NodeName=a Weight=5\n# between\nNodeName=b,c CPUs=192 Gres=gpu:8\n"
        "PartitionName=x Nodes=a Default=YES\n" + _partition("y", "b,c")
    )


def test_a_group_that_changed_and_is_as_before_has_changed() -> None:
    """HP-12: rewritten when that group changes, though the same nodes are left."""
    before, after = {"g": view("a")}, {"g": view("a", generation=1)}
    assert "Weight" not in merge("NodeName=a Weight=5\n", before, after)
    assert merge("NodeName=a Weight=5\n", before, before) == "NodeName=a Weight=5\n"


def test_a_partition_may_be_renamed() -> None:
    """HP-12: UpdateCluster may change PartitionNames."""
    text = merge("", {}, {"g": view("a")})
    renamed = {"g": view("a", partition="big")}
    assert merge(text, {"g": view("a")}, renamed) == "NodeName=a CPUs=192 Gres=gpu:8\n" + _partition("big", "a")


def test_all_ways_to_write_a_line_of_ours() -> None:
    """HP-12: keys in any case, host lists, continuations, spaces, comments behind."""
    before = {"g": view("n-1", "n-2", "n-3")}
    for line in (
        "nodename=n-1",
        "  NODENAME = n-[2-9] CPUs=1 # old\n",
        "NodeName=x,n-[0,3]y,n-[3] \\\n   CPUs=1 \\  \n  State=UP\n",
        'NodeName="n-1,n-2"\r\n',
        "Node\\\nName=n-3\n",
        "NodeName=n-[1-2]\nNodeName=n-3\n",
    ):
        assert merge(f"# first\n{line}", before, {"g": view("n-4", partition=None)}) == (
            "# first\nNodeName=n-4 CPUs=192 Gres=gpu:8\n"
        ), line


@pytest.mark.parametrize(
    "line",
    [
        "#NodeName=n-1\n",
        "# a comment that ends in \\\n",
        "NodeName=DEFAULT CPUs=4\n",
        "NodeName=n-10\n",
        "NodeName=n-[10-19]\n",
        "NodeName=n-[1\n",
        "NodeName=n-[]\n",
        "NodeName=\n",
        "PartitionName=mine Nodes=n-1,n-2\n",
        "PartitionName=GPU\n",
        "PartitionName=DEFAULT MaxTime=1\n",
        "DownNodes=n-1 State=DOWN\n",
        "Epilog=/a/b \\\nNodeName=n-1\n",
        "include nodes.conf\n",
        "\r\n",
        "\x0b\u2028NodeName=n-1\n",
    ],
)
def test_all_other_lines_are_the_users(line: str) -> None:
    """HP-12: byte for byte."""
    before = {"g": view("n-1", "n-2")}
    text = merge(line, {}, before)
    assert text.startswith(line)
    assert merge(text, before, {"g": view("n-3", generation=1)}).startswith(line)
    assert merge(text, before, {}) == line


def test_a_line_that_two_groups_share_is_rewritten_for_both() -> None:
    """HP-12: nobody's nodes are lost with it."""
    before = {"one": view("a", partition="x"), "two": view("b", partition="y")}
    after = {"one": view("c", partition="x"), "two": before["two"]}
    assert merge("NodeName=a,b\n", before, after).startswith(
        "NodeName=c CPUs=192 Gres=gpu:8\nNodeName=b CPUs=192 Gres=gpu:8\n"
    )


def test_a_file_without_an_end_gets_one_before_what_is_added() -> None:
    assert merge("# mine", {}, {"g": view("a", partition=None)}) == "# mine\nNodeName=a CPUs=192 Gres=gpu:8\n"
    assert merge("# mine", {"g": view(partition=None)}, {}) == "# mine"


def test_nothing_is_put_behind_a_line_that_goes_on() -> None:
    """HP-12: at the end of the file it would become a part of it."""
    line = "NodeName=a CPUs=192 Gres=gpu:8\n"
    for last in ("\\\n", "Epilog=/a \\", "NodeName=onprem \\\n"):
        assert merge(f"# mine\n{last}", {}, {"g": view("a", partition=None)}) == f"# mine\n{line}{last}"


def test_host_lists() -> None:
    """As scontrol reads them: zeros in front count, two brackets are every pair."""
    assert hosts("a[08-10],b,c[1,3]d[0-1]") == ["a08", "a09", "a10", "b", "c1d0", "c1d1", "c3d0", "c3d1"]
    assert hosts("a[3-1]") == []
    assert hosts("") == []


@pytest.mark.parametrize(
    "expression",
    [
        "a[1-999999999999]",
        "a[1-60000],b[1-60000]",
        "a[1-500][1-500]",
        "a[" + ",".join(["1-60000"] * 5000) + "]",
        "a" + "[1-60000]" * 5000,
        "a," * (MOST_NAMES + 1),
    ],
)
def test_a_file_that_names_too_many_hosts_is_refused(expression: str) -> None:
    """Bounded everything, and refused at once."""
    with pytest.raises(Invalid, match="more than 65536 hosts"):
        check(f"NodeName={expression}\n")
    check(f"# NodeName={expression}\n")


def test_odd_files_take_no_time() -> None:
    for text in ("[" * 100_000, "NodeName=" + "[a" * 50_000, "\\\n" * 50_000, "NodeName=a\\\n" * 50_000):
        try:
            check(text)
        except Invalid:
            continue
        merge(text, {}, {"g": view("n-1")})


def views_of(group: str) -> st.SearchStrategy[GroupView]:
    """A group's nodes are its own; they come, go and change their type, and the partition is another."""
    names = st.sampled_from([f"ip-10-{group}-{n}" for n in range(4)])
    return st.builds(
        lambda names, partition, options: view(*names, partition=partition, options=options),
        st.lists(names, unique=True, max_size=3),
        st.sampled_from([None, "gpu", "cpu"]),
        st.sampled_from([GPU, CPU]),
    )


VIEWS = st.fixed_dictionaries({}, optional={group: views_of(group) for group in ("workers", "spare", "big")})
USERS = st.lists(
    st.sampled_from(
        [
            "# a comment",
            "",
            "SlurmUser=slurm",
            "NodeName=DEFAULT CPUs=1 \\\n  State=UP",
            "NodeName=onprem[1-3] CPUs=8",
            "PartitionName=mine Nodes=ip-10-big-1 \\\n   Default=YES",
            "Prolog=/opt/a.sh # run \\",
            "#NodeName=ip-10-big-1",
            "Licenses=a,b\r",
        ]
    ),
    max_size=8,
)


def is_ours(line: str) -> bool:
    return re.match(r"NodeName=ip-10|PartitionName=(gpu|cpu) ", line) is not None


@settings(max_examples=100, deadline=None)
@given(USERS, st.lists(st.one_of(VIEWS, st.tuples(st.integers(0, 20), st.text("ab #=\\", max_size=9))), max_size=8))
def test_user_lines_are_kept_whatever_happens(lines: list[str], script: list[object]) -> None:
    """HP-12: for every sequence of scalings and edits; and merging is idempotent."""
    text = "".join(f"{line}\n" for line in lines)
    views: dict[str, GroupView] = {}
    for step in script:
        if isinstance(step, tuple):  # the user adds a line of his own between two whole lines
            place, said = step
            have = _logical(text)
            have.insert(min(place, len(have)), f"# {said}\n")
            text = "".join(have)
            continue
        assert isinstance(step, dict)
        merged = merge(text, views, step)
        assert [line for line in _logical(merged) if not is_ours(line)] == [
            line for line in _logical(text) if not is_ours(line)
        ]
        assert merge(merged, views, step) == merged
        assert merge(merged, step, step) == merged
        named = {line.split()[0].partition("=")[2] for line in _logical(merged) if line.startswith("PartitionName=")}
        assert {p for each in step.values() for p in each.partitions} <= named
        text, views = merged, step
    left = merge(text, views, {})
    assert not [line for line in _logical(left) if is_ours(line)]


def _logical(text: str) -> list[str]:
    """Lines with their continuations, as a reader of the tests' own lines would join them."""
    return re.findall(r"(?:[^#\n]*\\\n)*[^\n]*\n", text)
