"""`windtunnel`: the command line (CT-11)."""

import typer

from app import __version__
from app.commands import (
    alarm,
    bill,
    budget,
    capacity,
    clock,
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

app = typer.Typer(
    name="windtunnel",
    help="A GPU cloud's control plane on your own machine.",
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


app.command("up")(up.up)
app.command()(demo.demo)
app.command("exec", context_settings={"allow_interspersed_args": False})(execute.execute)
for verb in (
    processes.api,
    processes.reconciler,
    processes.scheduler,
    processes.grpc,
    processes.executor,
    processes.migrate,
):
    app.command()(verb)
app.command()(env.env)
app.command()(status.status)
app.command()(doctor.doctor)
app.command()(bill.bill)
app.command()(fleet.queue)
app.command()(workload.why)
app.command()(workload.decisions)
app.command()(job.job)
app.command()(logs.logs)
app.command()(simulate.simulate)
app.command()(world.reset)
app.command()(observe.requests)
app.command()(observe.events)
app.command()(observe.attachments)
app.command()(observe.metrics)
for noun in (
    clock,
    capacity,
    quota,
    budget,
    fault,
    fleet,
    host,
    workload,
    image,
    alarm,
    price,
    webhook,
    world,
    snapshot,
    slurm,
):
    app.add_typer(noun.app, name=noun.__name__.rpartition(".")[2])


def main() -> None:
    """Run one command line."""
    reporting(app)


if __name__ == "__main__":
    main()
