"""What a process of the API is composed of: the one object that handlers of every wire are given."""

from dataclasses import dataclass, field
from datetime import timedelta

from prometheus_client import CollectorRegistry

from app.request_log import RequestLog
from app.settings import Settings
from app.store.db import Database
from app.usecases.mishaps import Mishaps
from app.usecases.peculiarities import Remembered
from app.usecases.provisioning import Policy


@dataclass(slots=True)
class Service:
    """Settings, policy, the request log, what is peculiar to worlds and befalls requests, and, once it is open, the
    database.

    `name` names the process in leases.
    """

    settings: Settings
    name: str
    policy: Policy
    registry: CollectorRegistry
    request_log: RequestLog
    remembered: Remembered = field(default_factory=Remembered)
    mishaps: Mishaps = field(init=False)
    database: Database | None = None

    def __post_init__(self) -> None:
        self.mishaps = Mishaps(lambda: self.db, self.remembered)

    @property
    def db(self) -> Database:
        """The open database; ConnectionError, which every wire answers with 503, before it is."""
        if self.database is None:
            raise ConnectionError("the database is not open yet")
        return self.database


def compose(settings: Settings, name: str) -> Service:
    """The service that `settings` describe, its database not yet open."""
    registry = CollectorRegistry()
    return Service(
        settings=settings,
        name=name,
        policy=Policy(
            settings.events_per_cluster,
            timedelta(seconds=settings.job_error_seconds),
            settings.log_lines_per_job,
            settings.execute_jobs,
        ),
        registry=registry,
        request_log=RequestLog(registry),
    )
