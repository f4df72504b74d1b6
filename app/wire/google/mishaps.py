"""Faults of requests in Google's dialect: canonical codes, by which clients decide whether to try again (CT-3)."""

from app.core.effects import DROP
from app.core.faults import Rule
from app.core.scope import Scope
from app.wire.google.errors import Code, GoogleError, error_info

_TEXTS = {
    Code.INTERNAL: "Internal error encountered.",
    Code.UNAVAILABLE: "The service is currently unavailable.",
    Code.DEADLINE_EXCEEDED: "Deadline exceeded.",
    Code.ABORTED: "The operation was aborted.",
}
_METRIC = "aiplatform.googleapis.com/resource_management_requests"


def error_of(rule: Rule, scope: Scope) -> GoogleError:
    """The error that stands for the answer; what the rule leaves out is as Google has it."""
    if rule.effect == DROP:
        text = "A fault rule drops this request; this server cannot close the connection."
        return GoogleError(Code.UNAVAILABLE, text)
    if rule.effect == "api-throttle":
        return _throttled(rule, scope)
    code = code_of(rule.code, Code.INTERNAL)
    text = rule.message or _TEXTS.get(code, f"A fault rule ({rule.rule_id}) answers this request.")
    reason = {Code.PERMISSION_DENIED: "IAM_PERMISSION_DENIED"}.get(code)
    return GoogleError(code, text, [error_info(reason)] if reason else [])


def code_of(name: str | None, otherwise: Code) -> Code:
    """The canonical code that a rule names, however it is spelled; a code of another vendor is `otherwise`."""
    return Code.__members__.get((name or "").upper(), otherwise)


def _throttled(rule: Rule, scope: Scope) -> GoogleError:
    consumer = f"project_number:{scope.account}"
    text = (
        f"Quota exceeded for quota metric 'Resource management requests' and limit 'Resource management requests per "
        f"minute per region' of service 'aiplatform.googleapis.com' for consumer '{consumer}'."
    )
    metadata = {"service": "aiplatform.googleapis.com", "quota_metric": _METRIC, "consumer": consumer}
    info = error_info("RATE_LIMIT_EXCEEDED", **metadata)
    return GoogleError(code_of(rule.code, Code.RESOURCE_EXHAUSTED), rule.message or text, [info])
