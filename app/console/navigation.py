"""Which pages there are: the one list of them, in the order in which they are shown."""

from typing import NamedTuple


class Entry(NamedTuple):
    """A page: its path inside a world, its title, and the key that opens it after `g`."""

    path: str
    title: str
    key: str = ""


SECTIONS: tuple[tuple[str, tuple[Entry, ...]], ...] = (
    (
        "Infrastructure",
        (
            Entry("", "Overview", "o"),
            Entry("clusters", "Clusters", "c"),
            Entry("nodes", "Nodes", "n"),
            Entry("events", "Events", "e"),
            Entry("bill", "Bill", "b"),
        ),
    ),
    (
        "Scheduling",
        (
            Entry("queue", "Queue", "q"),
            Entry("workloads", "Workloads", "w"),
            Entry("jobs", "Jobs", "j"),
            Entry("decisions", "Decisions", "v"),
            Entry("shares", "Fair shares", "s"),
            Entry("budgets", "Budgets", "u"),
            Entry("node-times", "Nodes over time", "t"),
            Entry("hosts", "Hosts", "h"),
            Entry("fleets", "Fleets", "l"),
        ),
    ),
    (
        "World",
        (
            Entry("faults", "Faults", "x"),
            Entry("capacity", "Capacity", "k"),
            Entry("worlds", "Worlds", "d"),
            Entry("snapshots", "Snapshots", "p"),
            Entry("what-if", "What if", "i"),
            Entry("simulator", "Simulator", "m"),
            Entry("requests", "Requests", "r"),
        ),
    ),
)


def entries() -> list[Entry]:
    """All pages."""
    return [entry for _, section in SECTIONS for entry in section]


def current(path: str) -> str:
    """The path of the entry that the path inside a world belongs to."""
    first = path.partition("/")[0]
    return first if first in {entry.path for entry in entries()} else ""
