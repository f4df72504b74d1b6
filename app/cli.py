"""`windtunnel`: the command line, and the exit code of everything that can go wrong (CT-11)."""

import sys

import typer

from app.commands import bill, capacity, clock, doctor, env, execute, fault, price, processes, status, up, world

DONE, FAILED, USAGE, NOT_READY, PORT_IN_USE, DATABASE = 0, 1, 2, 3, 4, 5

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
        import importlib.metadata

        print(importlib.metadata.version("windtunnel"))
        raise typer.Exit


app.command("up")(up.up)
app.command("exec", context_settings={"allow_interspersed_args": False})(execute.execute)
for verb in (processes.api, processes.reconciler, processes.scheduler, processes.migrate):
    app.command()(verb)
app.command()(env.env)
app.command()(status.status)
app.command()(doctor.doctor)
app.command()(bill.bill)
app.command()(world.reset)
for noun in (clock, capacity, fault, price, world):
    app.add_typer(noun.app, name=noun.__name__.rpartition(".")[2])


def main() -> None:
    """Run one command line. What a user can mend is one line on standard error, never a traceback."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # `windtunnel bill | head`
        sys.stderr.close()
        sys.exit(DONE)
    except Exception as error:
        code = exit_code(error)
        if code is None:
            raise
        print(f"windtunnel: {error}", file=sys.stderr)
        sys.exit(code)


def exit_code(error: Exception) -> int | None:
    """The documented code of `error`; None for what should not happen, which deserves its traceback."""
    from app.commands.client import Refused, Unreachable
    from app.commands.execute import CannotRun
    from app.host.children import Unusable
    from app.host.listener import PortInUse
    from app.host.supervisor import NotReady
    from app.settings import SettingsError
    from app.store.binaries import DatabaseError

    codes: dict[type[Exception], int] = {
        Refused: FAILED,
        CannotRun: FAILED,
        SettingsError: USAGE,
        Unusable: USAGE,
        Unreachable: NOT_READY,
        NotReady: NOT_READY,
        PortInUse: PORT_IN_USE,
        DatabaseError: DATABASE,
    }
    return codes.get(type(error))


if __name__ == "__main__":
    main()
