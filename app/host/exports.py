"""The lines that point clients at this service: safe for `eval`, whatever the values are."""

import os
import re
import shlex
import sys
from pathlib import Path
from urllib.parse import quote

from app.host.certificate import certificate_of
from app.settings import CONFIG_VARIABLE, Settings

WORLD_PATH = re.compile(r"/w/[^/]*$")

# What would send a client elsewhere, or with other keys, in spite of the variables below.
OVERRIDING = (
    "AWS_PROFILE",
    "AWS_SESSION_TOKEN",
    "AWS_ENDPOINT_URL_SAGEMAKER",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
    "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE",
)
GOOGLE_PROJECT, GOOGLE_LOCATION = "windtunnel", "us-central1"
"""What Google's clients are told; any other project is there as well, and so is every location of the catalogue."""


def world_endpoint(endpoint: str, world: str | None) -> str:
    """The address that means `world` to every client (CT-0), in place of the world that `endpoint` may name.

    None leaves the endpoint's own; "" leaves none, which means `main`.
    """
    address = endpoint.rstrip("/")
    if world is None:
        return address
    return WORLD_PATH.sub("", address) + (f"/w/{quote(world, safe='')}" if world else "")


def variables(settings: Settings, endpoint: str, world: str | None, config: Path | None = None) -> dict[str, str]:
    """What a client's environment needs: the AWS SDKs' names, Google's, and ours for the `windtunnel` verbs.

    With `config` the verbs read it too: that is where the control token may be.
    """
    address = world_endpoint(endpoint, world)
    key, secret = next(iter(settings.secrets_by_key.items()), ("windtunnel", "windtunnel"))
    return {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_DEFAULT_REGION": settings.default_region,
        "AWS_REGION": settings.default_region,
        "AWS_PAGER": "",
        "AWS_EC2_METADATA_DISABLED": "true",
        **_google(address),
        **_trust(settings),
        "WINDTUNNEL_ENDPOINT": address,
        **({CONFIG_VARIABLE: str(config.absolute())} if config else {}),
    }


def _google(address: str) -> dict[str, str]:
    """For gcloud and for Cloud Storage's clients. The SDK of Vertex AI reads no variable: see `python_lines`.

    gcloud sends uploads to the address without its path, so it is pointed at the buckets of `main` alone.
    """
    storage = (
        {} if WORLD_PATH.search(address) else {"CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE": f"{address}/storage/v1/"}
    )
    return {
        **storage,
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM": f"{address}/",
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING": f"{address}/",
        "CLOUDSDK_AUTH_ACCESS_TOKEN": "windtunnel",
        "CLOUDSDK_CORE_PROJECT": GOOGLE_PROJECT,
        "CLOUDSDK_AI_REGION": GOOGLE_LOCATION,
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
        "GOOGLE_CLOUD_PROJECT": GOOGLE_PROJECT,
        "STORAGE_EMULATOR_HOST": address,
    }


def _trust(settings: Settings) -> dict[str, str]:
    """What gRPC's clients are to trust, if this service has made a certificate where its data is."""
    roots = certificate_of(settings).roots
    return {"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": str(roots)} if roots.is_file() else {}


def python_lines(endpoint: str, world: str | None) -> list[str]:
    """What points `google-cloud-aiplatform` here, which no variable does."""
    return [
        "from google.auth.credentials import AnonymousCredentials",
        "from google.cloud import aiplatform",
        f"aiplatform.init(project={GOOGLE_PROJECT!r}, location={GOOGLE_LOCATION!r}, "
        f"api_endpoint={world_endpoint(endpoint, world)!r}, api_transport='rest', "
        f"credentials=AnonymousCredentials(), staging_bucket='gs://{GOOGLE_PROJECT}')",
    ]


def shell_lines(settings: Settings, endpoint: str, world: str | None, config: Path | None = None) -> list[str]:
    """`export NAME=value` lines; variables that would override the endpoint or the keys are unset."""
    told = variables(settings, endpoint, world, config)
    lines = [f"export {name}={shlex.quote(value)}" for name, value in told.items()]
    lines.append(f"unset {' '.join(OVERRIDING)}")
    if missing := directory_to_add():
        lines.append(f'export PATH="$PATH":{shlex.quote(str(missing))}')
    return lines


def directory_to_add() -> Path | None:
    """Where `windtunnel` and the pinned `aws` are, unless PATH has it: after it, so nothing is hidden."""
    directory = Path(sys.executable).parent
    known = os.environ.get("PATH", "").split(os.pathsep)
    return directory if (directory / "windtunnel").exists() and str(directory) not in known else None


def command() -> str:
    """How to type `windtunnel` in a new terminal: by its full path if PATH does not have it."""
    missing = directory_to_add()
    return shlex.quote(str(missing / "windtunnel")) if missing else "windtunnel"
