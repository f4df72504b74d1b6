"""What requests to Cloud Storage have in common: the names in their paths, and the numbers in their queries."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from tempfile import SpooledTemporaryFile
from typing import IO, Annotated, cast
from urllib.parse import unquote

from fastapi import Depends, Path, Query, Request

from app.core.errors import Invalid
from app.core.objects import Sought
from app.core.scope import DEFAULT_WORLD
from app.service import Service

IN_MEMORY = 1024 * 1024
"""Bytes of an object that are held in memory; of a larger one none is."""
CONDITIONS = ("ifGenerationMatch", "ifGenerationNotMatch", "ifMetagenerationMatch", "ifMetagenerationNotMatch")
few_at_a_time = asyncio.Semaphore(4)
"""Who moves bytes holds a connection to the database for a while: the other requests must find some."""
_NUMBER = re.compile("[0-9]{1,19}")


def unquoted(name: str) -> str:
    """A name as it stands in the path (`app.wire.front`), where its own slashes are `%2F`."""
    try:
        return unquote(name, errors="strict")
    except UnicodeDecodeError:
        raise Invalid("A name in the path is not UTF-8.") from None


def _bucket(bucket: Annotated[str, Path()]) -> str:
    return unquoted(bucket)


def _object(name: Annotated[str, Path(alias="object")]) -> str:
    return unquoted(name)


def number_in(request: Request, name: str) -> int | None:
    """A number of the query. Invalid: it is none of 63 bits."""
    given = request.query_params.get(name)
    if given is None:
        return None
    if not _NUMBER.fullmatch(given) or int(given) >= 2**63:
        raise Invalid(f"Invalid value for: Expected a valid integer in '{name}'.")
    return int(given)


def _conditions(request: Request) -> Mapping[str, int]:
    return _numbers(request, {name: name for name in CONDITIONS})


def source_conditions(request: Request) -> Mapping[str, int]:
    """The preconditions of an object that is copied."""
    return _numbers(request, {name: "ifSource" + name.removeprefix("if") for name in CONDITIONS})


def _numbers(request: Request, names: Mapping[str, str]) -> dict[str, int]:
    found = {name: number_in(request, asked) for name, asked in names.items()}
    return {name: number for name, number in found.items() if number is not None}


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def _world(request: Request) -> str:
    name: str = request.scope.get("windtunnel.world", DEFAULT_WORLD)
    return name


def _base(request: Request) -> str:
    return str(request.base_url)


BucketName = Annotated[str, Depends(_bucket)]
ObjectName = Annotated[str, Depends(_object)]
Conditions = Annotated[Mapping[str, int], Depends(_conditions)]
ServiceOf = Annotated[Service, Depends(_service)]
WorldOf = Annotated[str, Depends(_world)]
Base = Annotated[str, Depends(_base)]
"""The address of this service as the client knows it, with the world's prefix."""
Word = Annotated[str, Query(max_length=1024, pattern=r"^[^\x00]*$")]


async def _spool() -> AsyncIterator[IO[bytes]]:
    with SpooledTemporaryFile(max_size=IN_MEMORY) as file:
        yield cast(IO[bytes], file)


def _sought(request: Request, bucket: BucketName, name: ObjectName, conditions: Conditions) -> Sought:
    return Sought(bucket, name, number_in(request, "generation"), conditions)


Spool = Annotated[IO[bytes], Depends(_spool)]
"""A file that is there as long as the request and its answer are."""
SoughtOf = Annotated[Sought, Depends(_sought)]
