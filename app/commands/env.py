"""`windtunnel env`: the lines for `eval`."""

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands import options as o
from app.commands.client import Refused, Unreachable, request, told
from app.commands.output import as_json_text

if TYPE_CHECKING:
    from app.settings import Settings

Python = Annotated[bool, typer.Option("--python", help="Print the lines for Vertex AI's Python SDK instead.")]
SECONDS = 5.0  # wall time that an answer may take


def env(
    python: Annotated[
        bool, typer.Option("--python", help="Print the lines for Vertex AI's Python SDK instead.")
    ] = False,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    config: o.Config = None,
    as_json: o.Json = False,
) -> None:
    """Print what points aws-cli, boto3, gcloud and these commands here: eval "$(windtunnel env)"."""
    from app.host.exports import python_lines, shell_lines, variables, world_endpoint
    from app.settings import config_file

    settings, address = told(endpoint, config)
    if world is not None:
        _refuse_missing(settings, world_endpoint(address, world))
    elif endpoint is None:
        address = world_endpoint(address, "")  # the terminal may have been in another world until now
    file = config_file(config)
    if python:
        print("\n".join(python_lines(address, world)))
    elif as_json:
        print(as_json_text(variables(settings, address, world, file)))
    else:
        print("\n".join(shell_lines(settings, address, world, file)))


def _refuse_missing(settings: "Settings", address: str) -> None:
    """Raise Refused if the service answers and says that it has no such world; it need not run yet."""
    with contextlib.suppress(Unreachable):
        try:
            request(settings, address, "GET", "clock", timeout=SECONDS)
        except Refused as error:
            if error.status == 404:
                raise
