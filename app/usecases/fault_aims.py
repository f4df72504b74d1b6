"""At which requests a fault rule may aim: the APIs and operations that there are, and their codes (CT-3)."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.core.errors import Invalid
from app.core.faults import Rule


@dataclass(frozen=True, slots=True)
class Apis:
    """What is emulated: the operations by API, which of the APIs are Google's, and the codes that those have."""

    operations: Mapping[str, frozenset[str]]
    google: frozenset[str]
    google_codes: Sequence[str]


def check(rule: Rule, apis: Apis) -> None:
    """Invalid for an API, an operation or a code that is not there."""
    _check_operation(rule.api, rule.operation, apis.operations)
    if rule.effect == "api-error" and rule.code is not None:
        _check_code(rule.code, rule.api, rule.operation, apis)


def _check_operation(api: str | None, operation: str | None, services: Mapping[str, frozenset[str]]) -> None:
    if api is not None and api not in services:
        raise Invalid(f"There is no API '{api}' here. Choose one of: {', '.join(services)}.")
    known = [name for each, names in services.items() if api in (None, each) for name in names]
    if operation is not None and operation not in known:
        near = difflib.get_close_matches(operation, known, n=1)
        hint = f"Did you mean {near[0]}?" if near else "Write it as CreateCluster."
        raise Invalid(f"{api or 'No API here'} {'lacks' if api else 'has'} the operation '{operation[:80]}'. {hint}")


def _check_code(code: str, api: str | None, operation: str | None, apis: Apis) -> None:
    """Google's APIs have canonical codes and no others; AWS's have any."""
    struck = [each for each, names in apis.operations.items() if api in (None, each) and operation in (None, *names)]
    if apis.google.issuperset(struck) and code.upper() not in apis.google_codes:
        known = ", ".join(apis.google_codes)
        raise Invalid(f"{' or '.join(struck)} has no code '{code}'. Choose one of: {known}.")
