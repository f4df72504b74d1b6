"""What tests of refusals share: the codes, a call that must be refused, and requests with something missing."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

INVALID, CONFLICT = "ValidationException", "ConflictException"
NOT_FOUND, IN_USE, LIMIT = "ResourceNotFound", "ResourceInUse", "ResourceLimitExceeded"
VPC = {"SecurityGroupIds": ["sg-12345678"], "Subnets": ["subnet-12345678"]}
EVENT = "00000000-0000-4000-8000-000000000000"


def refusal(call: Callable[..., Any], **request: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as refused:
        call(**request)
    answer = refused.value.response
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 400
    return answer["Error"]["Code"], answer["Error"]["Message"]


def without(request: dict[str, Any], *members: str) -> dict[str, Any]:
    return {key: value for key, value in request.items() if key not in members}
