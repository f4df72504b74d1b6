"""Errors as gRPC tells them: a code, a text, and Google's details beside them."""

from typing import Any

import grpc
from google.protobuf import any_pb2, json_format
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from app.wire.google.errors import GoogleError

KNOWN = error_details_pb2.DESCRIPTOR
"""The details' messages; whoever packs one needs them loaded."""
TEXT_LIMIT = 2048
"""Details and text go as headers, of which clients read no more than 8 KiB unless told."""


def status_of(error: GoogleError) -> Any:
    """What a servicer's context aborts with."""
    status = status_pb2.Status(code=error.code.number, message=_printable(error.message)[:TEXT_LIMIT])
    for detail in error.details:
        packed = json_format.ParseDict(detail, any_pb2.Any())
        if status.ByteSize() + packed.ByteSize() <= 2 * TEXT_LIMIT:
            status.details.append(packed)
    return rpc_status.to_status(status)


def code_of(error: GoogleError) -> grpc.StatusCode:
    """gRPC's own value of the canonical code."""
    return next(each for each in grpc.StatusCode if each.value[0] == error.code.number)


def _printable(text: str) -> str:
    """A message may quote half a surrogate pair, which no protobuf text may hold."""
    return text.encode("utf-8", "backslashreplace").decode()
