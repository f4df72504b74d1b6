"""How Cloud Storage's JSON API says no: a status, a reason in one word, and the text twice."""

import orjson

API = "storage"
"""What fault rules and the request log call it."""
OPERATIONS = (
    "buckets.delete",
    "buckets.get",
    "buckets.getStorageLayout",
    "buckets.insert",
    "buckets.list",
    "managedFolders.list",
    "objects.compose",
    "objects.copy",
    "objects.delete",
    "objects.get",
    "objects.insert",
    "objects.list",
    "objects.patch",
    "objects.rewrite",
)
"""The methods that are served, by the JSON API's own names."""
MEDIA_TYPE = "application/json; charset=UTF-8"
_REASONS = {
    401: "required",
    403: "forbidden",
    404: "notFound",
    405: "methodNotAllowed",
    409: "conflict",
    412: "conditionNotMet",
    413: "uploadTooLarge",
    416: "requestedRangeNotSatisfiable",
    421: "forbidden",
    429: "rateLimitExceeded",
    500: "internalError",
    501: "notImplemented",
    503: "backendError",
}
_MOST_TEXT = 4096


def body(status: int, message: str) -> bytes:
    """The body of a refusal."""
    text = message[:_MOST_TEXT].encode("utf-8", "backslashreplace").decode()
    problem = {"message": text, "domain": "global", "reason": _REASONS.get(status, "invalid")}
    return orjson.dumps({"error": {"code": status, "message": text, "errors": [problem]}})
