"""`windtunnel env`: the lines for `eval`."""

from app.commands import options as o
from app.commands.client import endpoint_of
from app.commands.output import as_json_text


def env(world: o.World = None, endpoint: o.Endpoint = None, config: o.Config = None, as_json: o.Json = False) -> None:
    """Print what points aws-cli and boto3 here: eval "$(windtunnel env)"."""
    from app.host.exports import shell_lines, variables
    from app.settings import load

    settings = load(config=config)
    address = endpoint_of(settings, endpoint)
    if as_json:
        print(as_json_text(variables(settings, address, world)))
    else:
        print("\n".join(shell_lines(settings, address, world)))
