"""A world: a cloud of its own, with its own clock, capacity, faults, prices and history."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Callable, TypeVar

from windtunnel_testkit import clients, times
from windtunnel_testkit.control import Address, segment
from windtunnel_testkit.errors import NotSettled, Refused, StillWaiting
from windtunnel_testkit.history import Moment, Waiting, timeline, waiting
from windtunnel_testkit.records import MICRO, Advanced, Bill, Fault, Record
from windtunnel_testkit.times import Duration, Instant

Found = TypeVar("Found")


class World:
    """A world by its name. A frozen one, as tests have it, moves by `advance` and by nothing else.

    As a context manager it is dropped at the end of the block.
    """

    def __init__(self, service: Address, name: str) -> None:
        self._service, self.name = service, name
        self._address = service.world(name)

    def __repr__(self) -> str:
        return f"World({self.name!r} at {self.endpoint})"

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self.drop()

    @property
    def endpoint(self) -> str:
        """The address that means this world to every client: boto3's `endpoint_url`, Vertex AI's `api_endpoint`."""
        return self._address.url

    def control(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Anything else of the control API: the JSON answer of `/_windtunnel/PATH`. Raises Refused."""
        return self._address.control(method, path, body, query)

    # The clock

    def clock(self) -> Record:
        """`now`, `frozen`, `rate`, `profile`, `started_at`, and when the next thing is due."""
        found: Record = self.control("GET", "clock")
        return found

    def now(self) -> datetime:
        """The world's time, in UTC."""
        return times.read(self.clock()["now"])

    def freeze(self) -> None:
        """Let time stand still until it is advanced."""
        self.control("POST", "clock", {"frozen": True})

    def resume(self) -> None:
        """Let time run again, at the world's rate."""
        self.control("POST", "clock", {"frozen": False})

    def rate(self, rate: float) -> None:
        """How many seconds of the world pass in a second of the wall, while it runs."""
        self.control("POST", "clock", {"rate": rate})

    def advance(
        self, by: Duration = 0, *, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0
    ) -> Advanced:
        """Move the clock on by all of these together; all that is due on the way has happened then.

        `advance()` settles what is due now. Raises NotSettled.
        """
        more = timedelta(seconds=seconds, minutes=minutes, hours=hours, days=days)
        return self._advance({"by": times.seconds(by) + times.seconds(more)})

    def advance_to(self, instant: Instant) -> Advanced:
        """Move the clock on to an instant. Raises NotSettled, and Refused for one that is past."""
        return self._advance({"to": times.written(instant)})

    def advance_next(self) -> Advanced:
        """Move the clock on to the next instant at which something happens, if there is one. Raises NotSettled."""
        return self._advance({"next": True})

    def _advance(self, goal: Record) -> Advanced:
        __tracebackhide__ = True
        done = self.control("POST", "clock/advance", goal)
        if not done["settled"]:
            raise NotSettled(f"The advance stopped at {done['after']}: {done['reason']}")
        return Advanced(times.read(done["before"]), times.read(done["after"]), done["counts"])

    def advance_until(self, condition: Callable[[], Found], limit: Duration, step: Duration | None = None) -> Found:
        """What `condition` gives as soon as that is true; it is asked after each instant at which something happens.

        With a `step` it is asked after each step instead. Nothing sleeps: only the world's time passes, `limit` of it
        at most. Raises StillWaiting.
        """
        __tracebackhide__ = True
        if found := condition():
            return found
        began = self.now()
        latest = began + timedelta(seconds=times.seconds(limit))
        now = self.advance().after
        while not (found := condition()):
            if now >= latest:
                raise StillWaiting(self._still(condition, began, now))
            now = self.advance_to(self._following(now, latest, step)).after
        return found

    def _following(self, now: datetime, latest: datetime, step: Duration | None) -> datetime:
        if step is not None:
            return min(now + timedelta(seconds=times.seconds(step)), latest)
        due = self.clock()["next_due"]
        return min(times.read(due), latest) if due else latest

    def _still(self, condition: Callable[[], Any], began: datetime, now: datetime) -> str:
        what = getattr(condition, "__name__", "the condition")
        lines = [
            f"{'the condition' if what == '<lambda>' else what} did not hold in {now - began} of the world's time "
            f"({times.shown(began)} to {times.shown(now)})."
        ]
        lines += [f"waiting: {one}" for one in self.waiting()] or ["Nothing waits."]
        return "\n".join(lines)

    # What the cloud has, what goes wrong, and what it costs

    def capacity(
        self,
        instance_type: str,
        total: int | None,
        *,
        region: str | None = None,
        zone: str | None = None,
        at: Instant | None = None,
    ) -> None:
        """From `at` (now) on there are `total` machines of the type; None: as many as anybody wants."""
        self.control(
            "POST",
            "capacity",
            _given(region=region, zone=zone, at=times.written(at) if at else None)
            | {"instance_type": instance_type, "total": total},
        )

    def fault(self, effect: str, **rule: Any) -> Fault:
        """Let `effect` happen to all that matches `rule`: `cluster`, `group`, `instance_type`, `node`, `job`,
        `operation`, `times`, `probability`, `every`, `code`, `seconds` and others, as the control API names them.
        """
        for instant in ("after", "before"):
            if rule.get(instant) is not None:
                rule[instant] = times.written(rule[instant])
        return Fault(self._address, self.control("POST", "faults", _given(effect=effect, **rule)))

    def price(self, machine: str, usd_per_hour: Decimal | int | str | float, region: str | None = None) -> None:
        """What an hour of the type costs from now on. Raises ValueError for parts of a micro-dollar."""
        micro = Decimal(str(usd_per_hour)) * MICRO
        if micro != int(micro):
            raise ValueError(f"{usd_per_hour} US dollars an hour has parts of a micro-dollar")
        body = {"instance_type": machine, "micro_usd_per_hour": int(micro)}
        self.control("POST", "prices", body | _given(region=region))

    def bill(
        self,
        by: str = "instance",
        *,
        cluster: str | None = None,
        job: str | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        intervals: bool = False,
    ) -> Bill:
        """What ran and what it cost: a line for each `instance`, `group`, `cluster`, `type`, `account`, `job` or
        `budget`, of one cluster or job alone if it is named.
        """
        period = {"from": since and times.written(since), "to": until and times.written(until)}
        told = self.control("GET", "bills", None, by=by, cluster=cluster, job=job, intervals=intervals, **period)
        return Bill(told["total_micro_usd"], times.read(told["as_of"]), told["lines"])

    # Who waits, and what has happened

    def submit(self, name: str, gpus: int, **facts: Any) -> Record:
        """A workload of `gpus` GPUs a replica for a cluster's scheduler: `replicas`, `cluster`, `budget` and others."""
        made: Record = self.control("POST", "workloads", _given(name=name, gpus=gpus, **facts))
        return made

    def why(self, workload: str, cluster: str | None = None) -> Record:
        """Why a workload or job stands where it stands: `reason`, `unblocks`, `ahead`, `earliest`, its decisions."""
        found: Record = self.control("GET", f"workloads/{segment(workload)}/why", None, cluster=cluster)
        return found

    def queue(self, cluster: str | None = None) -> list[Record]:
        """The work that waits, the first to be served first, each with its reason."""
        found: list[Record] = self.control("GET", "queue", None, cluster=cluster)["queue"]
        return found

    def waiting(self) -> list[Waiting]:
        """All that is not yet what it shall be: clusters, jobs and workloads, each with the reason."""
        return waiting(self._address)

    def timeline(self) -> list[Moment]:
        """All that has happened, the oldest first: to clusters and jobs, by the scheduler, by faults."""
        return timeline(self._address)

    # The world as a whole

    @property
    def seed(self) -> int:
        """What ids and chance are drawn from."""
        return int(self._facts()["seed"])

    def _facts(self) -> Record:
        worlds = self._service.control("GET", "worlds")["worlds"]
        return next(dict(each) for each in worlds if each["name"] == self.name)

    def snapshot(self, name: str) -> None:
        """Keep all that the world is at this instant, under a name."""
        self.control("POST", "snapshots", {"name": name})

    def restore(self, name: str) -> None:
        """Make the world what it was when it was kept, its clock included."""
        self.control("POST", f"snapshots/{segment(name)}/restore")

    def fork(self, name: str | None = None) -> World:
        """A frozen copy of the world as it is now: from here on each has a history of its own."""
        chosen = name or f"{self.name[:50]}-fork-{os.urandom(3).hex()}"
        self._service.control("POST", "worlds", {"name": chosen, "fork_of": self.name})
        return World(self._service, chosen)

    def reset(self) -> None:
        """Begin again: empty, with the same seed, start and profile."""
        self.control("POST", "reset")

    def drop(self) -> None:
        """Remove the world and all that is in it. It may be gone already."""
        try:
            self._service.control("DELETE", f"worlds/{segment(self.name)}")
        except Refused as error:
            if error.status != 404:
                raise

    # Clients of the two clouds

    def boto3(self, service: str = "sagemaker", **options: Any) -> Any:
        """A boto3 client bound to this world; `account` (twelve digits), and whatever `boto3.client` takes."""
        return clients.boto3(self.endpoint, service, **options)

    def vertex(self, project: str = clients.PROJECT, location: str = clients.LOCATION, **options: Any) -> Any:
        """The module `google.cloud.aiplatform`, initialised for this world: over REST, without credentials.

        Its settings are the process's: what was initialised before is overwritten.
        """
        return clients.vertex(self.endpoint, project, location, **options)

    def environment(self) -> dict[str, str]:
        """Variables that bind a child process to this world: AWS's SDKs and aws-cli, Cloud Storage, `windtunnel`."""
        return clients.environment(self.endpoint)


def _given(**facts: Any) -> Record:
    return {name: value for name, value in facts.items() if value is not None}
