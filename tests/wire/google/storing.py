"""Requests to Cloud Storage over plain HTTP, and its refusals."""

from typing import Any

import httpx

from tests.kit import TestWorld

UPLOAD = "/upload/storage/v1/b/bkt/o"
MEDIA = {"uploadType": "media", "name": "a"}


def put(world: TestWorld, content: bytes = b"hello", **query: str) -> Any:
    answer = world.http.post(UPLOAD, params=MEDIA | query, content=content)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(answer: httpx.Response, status: int, reason: str, text: str = "") -> None:
    """In Cloud Storage's form."""
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert error["code"] == status
    assert [each["reason"] for each in error["errors"]] == [reason]
    assert error["message"] == error["errors"][0]["message"]
    assert text in error["message"]
