"""`windtunnel`: the command line (CT-11)."""

from collections.abc import Callable
from typing import Any

import typer

from app import __version__
from app.commands import (
    alarm,
    bill,
    budget,
    capacity,
    clock,
    completion,
    console,
    demo,
    doctor,
    env,
    execute,
    fault,
    fleet,
    host,
    image,
    job,
    logs,
    observe,
    price,
    processes,
    quota,
    readiness,
    sections,
    simulate,
    slurm,
    snapshot,
    status,
    up,
    webhook,
    workload,
    world,
)
from app.commands.exits import reporting
from app.commands.sections import Sectioned

app = typer.Typer(
    name="windtunnel",
    cls=Sectioned,
    help="A GPU cloud's control plane on your own machine.",
    epilog="Every verb takes --help; those that answer take --json. Start with `windtunnel up`.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version.", is_eager=True)) -> None:
    if version:
        print(__version__)
        raise typer.Exit


VERBS: dict[str, dict[str, Callable[..., Any]]] = {
    sections.RUN: {
        "up": up.up,
        "exec": execute.execute,
        "ready": readiness.ready,
        "env": env.env,
        "open": console.open_console,
        "status": status.status,
        "doctor": doctor.doctor,
        "completion": completion.completion,
    },
    sections.PROCESSES: {
        "api": processes.api,
        "reconciler": processes.reconciler,
        "scheduler": processes.scheduler,
        "grpc": processes.grpc,
        "executor": processes.executor,
        "migrate": processes.migrate,
    },
    sections.TIME: {"reset": world.reset},
    sections.LOOK: {
        "bill": bill.bill,
        "events": observe.events,
        "job": job.job,
        "logs": logs.logs,
        "requests": observe.requests,
        "attachments": observe.attachments,
        "metrics": observe.metrics,
    },
    sections.SCHEDULE: {"queue": fleet.queue, "why": workload.why, "decisions": workload.decisions},
    sections.TRY: {"demo": demo.demo, "simulate": simulate.simulate},
}
NOUNS: dict[str, dict[str, typer.Typer]] = {
    sections.TIME: {"clock": clock.app, "world": world.app, "snapshot": snapshot.app},
    sections.WORLD: {
        "capacity": capacity.app,
        "quota": quota.app,
        "price": price.app,
        "fault": fault.app,
        "alarm": alarm.app,
        "image": image.app,
        "slurm": slurm.app,
        "webhook": webhook.app,
    },
    sections.SCHEDULE: {"workload": workload.app, "budget": budget.app, "fleet": fleet.app, "host": host.app},
}
for section, verbs in VERBS.items():
    for name, verb in verbs.items():
        # What follows `exec` is another program's, options and all.
        taken = {"allow_interspersed_args": name != "exec"}
        app.command(name, context_settings=taken, rich_help_panel=section)(verb)
for section, nouns in NOUNS.items():
    for name, noun in nouns.items():
        app.add_typer(noun, name=name, cls=Sectioned, rich_help_panel=section)


def main() -> None:
    """Run one command line."""
    reporting(lambda: app(prog_name="windtunnel"))


if __name__ == "__main__":
    main()
