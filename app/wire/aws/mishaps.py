"""Faults of requests in AWS's dialect: codes, texts and statuses by which SDKs decide whether to try again (CT-3)."""

from collections.abc import Mapping
from typing import Any

from app.core.effects import DROP
from app.core.faults import Rule
from app.wire.aws.errors import AwsError

_CLUSTER_MEMBERS = ("ClusterName", "ClusterArn", "ResourceArn", "SourceClusterArn")
_STATUSES = {
    "InternalFailure": 500,
    "InternalError": 500,
    "InternalServerError": 500,
    "InternalServerException": 500,
    "ServiceUnavailable": 503,
    "ServiceUnavailableException": 503,
    "RequestLimitExceeded": 503,
    "SlowDown": 503,
    "TooManyRequestsException": 429,
    "BandwidthLimitExceeded": 509,
}
"""Of the codes whose status is not 400."""
_TEXTS = {
    "InternalFailure": "The request processing has failed because of an unknown error, exception or failure.",
    "ServiceUnavailable": "The request has failed due to a temporary failure of the server.",
    "AccessDeniedException": "You do not have sufficient access to perform this action.",
}
_THROTTLED = "Rate exceeded"


def error_of(rule: Rule) -> AwsError:
    """The error that stands for the answer; what the rule leaves out is as AWS has it."""
    if rule.effect == DROP:
        return AwsError("Dropped", "A fault rule drops this request; this server cannot close the connection.", 503)
    if rule.effect == "api-throttle":
        code, text = rule.code or "ThrottlingException", _THROTTLED
    else:
        code = rule.code or "InternalFailure"
        text = _TEXTS.get(code, f"A fault rule ({rule.rule_id}) answers this request.")
    return AwsError(code, rule.message or text, _STATUSES.get(code, 400))


def cluster_of(value: Mapping[str, Any]) -> str:
    """The cluster's name or ARN that a request names, or nothing."""
    for member in _CLUSTER_MEMBERS:
        named = value.get(member)
        if isinstance(named, str) and (not named.startswith("arn:") or ":cluster/" in named):
            return named
    return ""
