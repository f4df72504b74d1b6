"""The emulated slurm.conf and its merge mode (HP-12): which lines are the groups', and what becomes of them.

A line that begins with NodeName and names a node of a group, or with PartitionName and names a partition of a group,
is the group's: it is rewritten when the group has changed and goes with it. All other lines are the user's and stay
byte for byte. The grammar is that of slurm.conf(5): a backslash at the end continues a line, `#` begins a comment, keys
are in any case, and `a[1-3,7]` names four hosts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from app.core.errors import Invalid

MOST_NAMES = 65_536
"""Hosts that the NodeName lines of a file may name in all."""
_KEY = re.compile(r"\s*(NodeName|PartitionName)\s*=\s*(\"[^\"]*\"|\S*)", re.IGNORECASE | re.ASCII)
_PART = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"([0-9]{1,18})-([0-9]{1,18})", re.ASCII)
_ITEM = re.compile(r"(?:[^,\[\]]|\[[^\[\]]*\])+")
NODE, PARTITION = "nodename", "partitionname"


@dataclass(frozen=True, slots=True)
class GroupView:
    """What the file has of a group: its partitions, and its nodes' names by the rest of their line.

    `generation` grows with every node that the group is given: a group that grew and shrank again has changed.
    """

    partitions: tuple[str, ...] = ()
    nodes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    generation: int = 0

    @property
    def names(self) -> Iterator[str]:
        return (name for options in sorted(self.nodes) for name in self.nodes[options])


Views = Mapping[str, GroupView]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line with its continuations, as it is in the file; `key` and `value` if it is about nodes or a partition."""

    text: str
    key: str = ""
    value: str = ""
    is_open: bool = False
    """The file ends where the line should go on: what is put behind it would become a part of it."""


def first_text(cluster: str, controller: str | None) -> str:
    """The file before any group has a line in it; `controller` is the controller's host name."""
    host = f"SlurmctldHost={controller}\n" if controller else ""
    return (
        f"# slurm.conf of the HyperPod cluster {cluster}. NodeName and PartitionName lines of instance groups follow\n"
        "# the groups; every other line stays as it is edited.\n"
        f"ClusterName={cluster}\n{host}SlurmctldPort=6817\nSlurmdPort=6818\nAuthType=auth/munge\n"
        "SelectType=select/cons_tres\nGresTypes=gpu\nReturnToService=1\n\n"
    )


def merge(text: str, before: Views, after: Views) -> str:
    """The file once the groups are as in `after`, when they were as in `before` at the time of `text`."""
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    if not changed:
        return text
    lines = list(_lines(text))
    owners = _owners(before, after)
    hits = [_groups_of(line, owners) for line in lines]
    nodes = _Rewriting(NODE, {name: _node_lines(after.get(name)) for name in sorted(_with_shared(changed, hits))})
    names = {name for group in changed for view in (before, after) if group in view for name in view[group].partitions}
    partitions = _Rewriting(PARTITION, {name: _partition_lines(name, after) for name in sorted(names)})
    out: list[_Line] = []
    for line, groups in zip(lines, hits, strict=True):
        if line.key == NODE and not groups.isdisjoint(nodes.wanted):
            out += nodes.take(sorted(groups))
        elif line.key == PARTITION and line.value in partitions.wanted:
            out += partitions.take([line.value])
        else:
            out.append(line)
    tail = [out.pop()] if out and out[-1].is_open else []
    return "".join(line.text for line in _ended([*partitions.add_rest(nodes.add_rest(out)), *tail]))


def check(text: str) -> None:
    """Invalid: the file's NodeName lines name more hosts than can be looked at."""
    left = MOST_NAMES
    for line in _lines(text):
        if line.key == NODE:
            left -= len(hosts(line.value, left))


def hosts(expression: str, most: int = MOST_NAMES) -> list[str]:
    """The host names of `a,b[1-3]`. Invalid: they are more than `most`. What is no range stands for itself."""
    found: list[str] = []
    for item in _ITEM.findall(expression) if "[" in expression else expression.split(","):
        count, choices = 1, []
        for place, piece in enumerate(_PART.split(item)):
            choices.append(_choices(piece, most) if place % 2 else [piece])
            count *= len(choices[-1])
            if len(found) + count > most:
                raise _too_many(item)
        found += ["".join(parts) for parts in product(*choices)] if item else []
    return found


def _choices(ranges: str, most: int) -> list[str]:
    found: list[str] = []
    for one in ranges.split(","):
        bounds = _RANGE.fullmatch(one)
        if bounds is None:
            found.append(one)
            continue
        low, high, width = int(bounds[1]), int(bounds[2]), len(bounds[1])
        if len(found) + high - low >= most:
            raise _too_many(f"[{ranges}]")
        found += [f"{number:0{width}d}" for number in range(low, high + 1)]
    return found


def _too_many(said: str) -> Invalid:
    return Invalid(f"The NodeName lines name more than {MOST_NAMES} hosts, as '{said[:60]}' does. Name fewer of them.")


@dataclass(slots=True)
class _Rewriting:
    """The lines that are wanted of each group or partition, and those whose place is found."""

    key: str
    wanted: Mapping[str, list[str]]
    placed: set[str] = field(default_factory=set)

    def take(self, names: Iterable[str]) -> list[_Line]:
        """The lines for the first place that any of the names has; nothing for the places after it."""
        new = [name for name in names if name not in self.placed]
        self.placed.update(new)
        return [_Line(f"{text}\n", self.key) for name in new for text in self.wanted[name]]

    def add_rest(self, out: list[_Line]) -> list[_Line]:
        """Behind the last line of the same kind, or at the end."""
        rest = self.take(self.wanted)
        last = max((place for place, line in enumerate(out, 1) if line.key == self.key), default=len(out))
        return [*out[:last], *rest, *out[last:]]


def _ended(lines: list[_Line]) -> Iterator[_Line]:
    """Only the last line may lack its end."""
    for line in lines[:-1]:
        yield line if line.text.endswith("\n") else replace(line, text=f"{line.text}\n")
    yield from lines[-1:]


def _with_shared(changed: set[str], hits: list[set[str]]) -> set[str]:
    """The changed groups, and those whose nodes a line names together with theirs: that line is rewritten for both."""
    found, size = set(changed), 0
    while size != len(found):
        size = len(found)
        for groups in hits:
            if not groups.isdisjoint(found):
                found |= groups
    return found


def _owners(*views: Views) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for view in views:
        for group, its in view.items():
            for name in its.names:
                found.setdefault(name, set()).add(group)
    return found


def _groups_of(line: _Line, owners: Mapping[str, set[str]]) -> set[str]:
    if line.key != NODE:
        return set()
    return {group for host in hosts(line.value) for group in owners.get(host, ())}


def _node_lines(view: GroupView | None) -> list[str]:
    if view is None:
        return []
    return [f"NodeName={','.join(view.nodes[options])} {options}".rstrip() for options in sorted(view.nodes)]


def _partition_lines(name: str, views: Views) -> list[str]:
    """One line for all groups that have the partition; without a node it is there and empty."""
    having = [view for view in views.values() if name in view.partitions]
    names = ",".join(dict.fromkeys(host for view in having for host in view.names)) or '""'
    return [f"PartitionName={name} Nodes={names} MaxTime=INFINITE State=UP"] if having else []


def _lines(text: str) -> Iterator[_Line]:
    pieces: list[str] = []
    said = ""
    for piece in _split(text):
        pieces.append(piece)
        bare = _without_comment(piece.rstrip("\r\n"))
        stem = bare.rstrip()
        if bare == piece.rstrip("\r\n") and (len(stem) - len(stem.rstrip("\\"))) % 2:
            said += stem[:-1]
            continue
        yield _line("".join(pieces), said + bare)
        pieces, said = [], ""
    if pieces:
        yield replace(_line("".join(pieces), said), is_open=True)


def _split(text: str) -> list[str]:
    """At line feeds alone: a file has no other line ends, whatever else Unicode takes for one."""
    pieces = text.split("\n")
    return [f"{piece}\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


def _without_comment(line: str) -> str:
    at = line.find("#")
    while at > 0 and line[at - 1] == "\\":
        at = line.find("#", at + 1)
    return line if at < 0 else line[:at]


def _line(text: str, said: str) -> _Line:
    found = _KEY.match(said)
    return _Line(text, found[1].lower(), found[2].strip('"')) if found else _Line(text)
