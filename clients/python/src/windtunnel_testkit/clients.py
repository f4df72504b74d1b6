"""Clients of the two clouds, bound to a world. boto3 and Google's SDK are looked for when they are asked for."""

from __future__ import annotations

import functools
from typing import Any

ACCOUNT, REGION = "111122223333", "us-west-2"
"""The account is the access key: without verification any key is taken, and twelve digits name an account."""
PROJECT, LOCATION = "windtunnel", "us-central1"


@functools.cache
def _session() -> Any:
    from boto3.session import Session  # type: ignore[import-untyped, unused-ignore]

    return Session()  # one for all worlds: it keeps the models that it has loaded


def boto3(endpoint: str, service: str, account: str = ACCOUNT, region: str = REGION, **options: Any) -> Any:
    """A boto3 client of `service` in `account` and `region`; `options` are boto3's own, and win."""
    told = {"aws_access_key_id": account, "aws_secret_access_key": "windtunnel", "region_name": region}
    return _session().client(service, **{"endpoint_url": endpoint, **told, **options})


def vertex(endpoint: str, project: str, location: str, **options: Any) -> Any:
    """`google.cloud.aiplatform` after its `init`; `options` are init's own, and win."""
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import aiplatform

    told = {
        "project": project,
        "location": location,
        "api_endpoint": endpoint,
        "api_transport": "rest",
        "credentials": AnonymousCredentials(),
        "staging_bucket": f"gs://{project}",
    }
    aiplatform.init(**{**told, **options})
    return aiplatform


def environment(endpoint: str) -> dict[str, str]:
    """What points a child process at the world, with keys that name the default account."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": ACCOUNT,
        "AWS_SECRET_ACCESS_KEY": "windtunnel",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_PAGER": "",
        "GOOGLE_CLOUD_PROJECT": PROJECT,
        "STORAGE_EMULATOR_HOST": endpoint,
        "WINDTUNNEL_ENDPOINT": endpoint,
    }
