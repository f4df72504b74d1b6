"""What custom jobs, tuning jobs and pipelines have in common in answers, and in what their lists may be asked."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from app.core.listing_filter import Vocabulary
from app.core.times import WorldTime
from app.wire.google.scalars import rfc3339
from app.wire.vertex.messages.jobs import JobState

JOB_LIST = Vocabulary(
    texts=frozenset({"display_name"}),
    times=frozenset({"create_time", "start_time", "end_time", "update_time"}),
    states=frozenset(JobState.__members__),
)


class Told(NamedTuple):
    """What all of them tell; `error` is a code of google.rpc.Code and its message."""

    display_name: str
    state: str
    created_at: WorldTime
    started_at: WorldTime | None
    ended_at: WorldTime | None
    updated_at: WorldTime
    error: tuple[int, str] | None
    labels: Mapping[str, str]
    encryption: str | None

    def facts(self) -> dict[str, Any]:
        """What a filter may ask."""
        return {
            "display_name": self.display_name,
            "state": self.state,
            "create_time": self.created_at,
            "start_time": self.started_at,
            "end_time": self.ended_at,
            "update_time": self.updated_at,
            "labels": self.labels,
        }

    def members(self) -> dict[str, Any]:
        """The members of the resource, without those that are unset."""
        members = {
            "displayName": self.display_name,
            "state": self.state,
            **instants(
                createTime=self.created_at,
                startTime=self.started_at,
                endTime=self.ended_at,
                updateTime=self.updated_at,
            ),
            "error": self.error and {"code": self.error[0], "message": self.error[1]},
            "labels": self.labels,
            "encryptionSpec": self.encryption and {"kmsKeyName": self.encryption},
        }
        return {name: value for name, value in members.items() if value}


def instants(**known: WorldTime | None) -> dict[str, str]:
    """The instants that have come."""
    return {name: rfc3339(instant) for name, instant in known.items() if instant is not None}
