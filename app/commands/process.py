"""One process of the service: `python -m app.commands.process api`, as `up` starts it, without the command line.

Its imports are what a start waits for, so they come in the order in which they are needed.
"""

import asyncio
import gc
import sys

from app.commands.exits import reporting
from app.settings import Settings, SettingsError, load

DATABASE_SECONDS = 60.0  # how long a process waits for a database that someone else starts and migrates


def run_api(settings: Settings) -> None:
    """Answer HTTP until told to end. Raises PortInUse, DatabaseError."""
    from app.host.listener import listen
    from app.host.serve import prepare, serve

    listener = listen(settings)
    prepare(settings, "api")
    from app.main import create_app

    application = create_app(settings)
    asyncio.run(_until_migrated(settings))
    serve(application, settings, listener)


def run_reconciler(settings: Settings) -> None:
    """Reconcile until told to end. Raises DatabaseError."""
    from app.host.serve import prepare, run_worker

    prepare(settings, "reconciler")
    from app.workers.reconciler import run

    asyncio.run(_until_migrated(settings))
    run_worker(run, settings)


def run_scheduler(settings: Settings) -> None:
    """Schedule until told to end. Raises DatabaseError."""
    from app.host.serve import prepare, run_worker

    prepare(settings, "scheduler")
    from app.workers.scheduler import run

    asyncio.run(_until_migrated(settings))
    run_worker(run, settings)


def run_grpc(settings: Settings) -> None:
    """Answer gRPC until told to end. Raises PortInUse, DatabaseError."""
    from app.host.grpc_ports import INSTALL, is_installed
    from app.host.serve import prepare, run_worker

    if not is_installed():
        raise SettingsError(f"gRPC needs packages that are not installed: {INSTALL}")
    prepare(settings, "grpc")
    from app.host.grpc_server import run

    asyncio.run(_until_migrated(settings))
    run_worker(run, settings)


def run_executor(settings: Settings) -> None:
    """Run jobs' programs until told to end. Raises DatabaseError; SettingsError without `execute_jobs`."""
    from app.host.serve import prepare, run_worker

    if not settings.execute_jobs:
        raise SettingsError("an executor runs the commands of jobs on this machine: set WINDTUNNEL_EXECUTE_JOBS=true")
    prepare(settings, "executor")
    from app.workers.executor import run

    asyncio.run(_until_migrated(settings))
    run_worker(run, settings)


async def _until_migrated(settings: Settings) -> None:
    from app.store.migrate import wait_for_schema

    if settings.database_url is None:
        raise SettingsError(
            "this process needs a database that runs already: set WINDTUNNEL_DATABASE_URL, "
            "or let `windtunnel up` start everything"
        )
    await wait_for_schema(settings.database_url, seconds=DATABASE_SECONDS)


PROCESSES = {
    "api": run_api,
    "reconciler": run_reconciler,
    "scheduler": run_scheduler,
    "grpc": run_grpc,
    "executor": run_executor,
}

if __name__ == "__main__":
    gc.disable()  # nothing that imports make is garbage, and looking for it takes a sixth of the start
    reporting(lambda: PROCESSES[sys.argv[1]](load()))
