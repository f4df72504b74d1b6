"""`windtunnel env`: the lines for `eval`."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands import options as o
from app.commands.client import Refused, Unreachable, request, told
from app.commands.output import as_json_text

if TYPE_CHECKING:
    from app.settings import Settings

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
    if world is None and endpoint is None:
        address = world_endpoint(address, "")  # the terminal may have been in another world until now
    settings = _served(settings, world_endpoint(address, world), named=world is not None)
    file = config_file(config)
    if python:
        print("\n".join(python_lines(address, world)))
    elif as_json:
        print(as_json_text(variables(settings, address, world, file)))
    else:
        print("\n".join(shell_lines(settings, address, world, file)))


def _served(settings: "Settings", address: str, *, named: bool) -> "Settings":
    """The settings with the data directory that the service has, where its certificate is; it need not run yet.

    Raise Refused if the service answers and says that it has no such world as was `named`.
    """
    try:
        data = request(settings, address, "GET", "status", timeout=SECONDS)["data"]
    except Unreachable:
        return settings
    except Refused as error:
        if named and error.status == 404:
            raise
        return settings
    return replace(settings, data=Path(data), database_url=None, ephemeral=False) if data else settings
