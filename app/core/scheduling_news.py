"""What the outside is told of a scheduler's decisions, in envelopes of our own beside AWS's (FS-12).

Times inside a detail are epoch milliseconds, as in AWS's.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from app.core.announcements import HOST_DRAINED, PREEMPTION, SESSION_WARNING, Message
from app.core.cluster import Cluster
from app.core.scheduling.decisions import Decision, Drained, Preempt, Warn


def messages(cluster: Cluster, made: Iterable[Decision]) -> list[Message]:
    """Of a pass's decisions: sessions whose protection ends soon, gangs that are preempted, hosts that are empty."""
    about = {"ClusterArn": cluster.arn, "ClusterName": cluster.name}
    return [(kind, about | detail) for one in made for kind, detail in _told(one)]


def _told(one: Decision) -> Iterator[tuple[str, dict[str, Any]]]:
    match one:
        case Warn():
            yield (
                SESSION_WARNING,
                {
                    "Workload": one.workload,
                    "ProtectedUntil": one.protected_until,
                    "Message": f"The protection of session {one.workload} ends soon. Then others may take its GPUs.",
                },
            )
        case Preempt():
            for victim, until in one.victims:
                yield (
                    PREEMPTION,
                    {
                        "Workload": victim,
                        "For": one.workload,
                        "Reason": one.code.value,
                        "StopsAt": until,
                        "Message": f"Workload {victim} leaves{_for(one.workload)}: {one.code.value}.",
                    },
                )
        case Drained():
            yield (
                HOST_DRAINED,
                {"Host": one.host, "Message": f"Nothing runs on {one.host} any more. It may be repaired."},
            )


def _for(workload: str | None) -> str:
    return "" if workload is None else f" for {workload}"
