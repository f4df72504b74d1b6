"""Cost Explorer's dimensions of our usage, and the expressions that filter by them."""

from collections.abc import Callable, Mapping
from typing import Any

from app import catalog
from app.core.errors import Invalid
from app.usecases.costs import Usage

SERVICE_NAME = "Amazon SageMaker"
DIMENSIONS: Mapping[str, Callable[[Usage], str]] = {
    "SERVICE": lambda used: SERVICE_NAME,
    "REGION": lambda used: used.entry.region,
    "INSTANCE_TYPE": lambda used: used.entry.instance_type,
    "USAGE_TYPE": lambda used: catalog.usage_type(used.entry.instance_type, used.entry.region),
    "LINKED_ACCOUNT": lambda used: used.entry.account,
    "RECORD_TYPE": lambda used: "Usage",
    "PURCHASE_TYPE": lambda used: "On Demand Instances",
}
GROUPABLE = ("SERVICE", "REGION", "INSTANCE_TYPE", "USAGE_TYPE", "LINKED_ACCOUNT", "RECORD_TYPE", "PURCHASE_TYPE")
MOST_DEPTH = 20
"""How deep an expression may nest (chosen); AWS's own limit is not published."""
_ROOTS = ("Or", "And", "Not", "Dimensions", "Tags", "CostCategories", "ProductAttributes")
_CASES = ("CASE_SENSITIVE", "CASE_INSENSITIVE")
_TESTS: Mapping[str, Callable[[str, str], bool]] = {
    "EQUALS": lambda text, wanted: text == wanted,
    "STARTS_WITH": lambda text, wanted: text.startswith(wanted),
    "ENDS_WITH": lambda text, wanted: text.endswith(wanted),
    "CONTAINS": lambda text, wanted: wanted in text,
}
Expression = Mapping[str, Any]
Wanted = Callable[[Usage], bool]


def dimension(key: str | None) -> Callable[[Usage], str]:
    """How to read the dimension `key`. Invalid for one that our usage does not have."""
    if key is None or key not in DIMENSIONS:
        raise Invalid(f"Dimension {key} is not emulated. Use one of: {', '.join(DIMENSIONS)}.")
    return DIMENSIONS[key]


def compile_filter(expression: Expression | None, depth: int = 0) -> Wanted:
    """Which usage the expression wants; None wants all."""
    if expression is None:
        return lambda used: True
    if depth > MOST_DEPTH:
        raise Invalid(f"The filter nests more than {MOST_DEPTH} expressions deep. Make it flatter.")
    roots = [root for root in _ROOTS if root in expression]
    if len(roots) != 1:
        raise Invalid("Expression must have exactly one root: one of And, Or, Not, Dimensions and Tags.")
    root = roots[0]
    if root in ("And", "Or"):
        return _joined(root, expression[root], depth)
    if root == "Not":
        inner = compile_filter(expression["Not"], depth + 1)
        return lambda used: not inner(used)
    if root not in ("Dimensions", "Tags"):
        raise Invalid(f"Filters by {root} are not emulated. Use Dimensions or Tags.")
    return _leaf(root, expression[root])


def _joined(root: str, parts: list[Expression], depth: int) -> Wanted:
    if len(parts) < 2:
        raise Invalid(f"{root} needs at least two expressions.")
    inner = [compile_filter(part, depth + 1) for part in parts]
    if root == "And":
        return lambda used: all(wanted(used) for wanted in inner)
    return lambda used: any(wanted(used) for wanted in inner)


def _leaf(root: str, leaf: Mapping[str, Any]) -> Wanted:
    options = leaf.get("MatchOptions") or []
    tests = [option for option in options if option not in _CASES]
    if len(tests) > 1 or any(test not in _TESTS and test != "ABSENT" for test in tests):
        raise Invalid(f"MatchOptions {', '.join(options)} are not emulated together: give one of {', '.join(_TESTS)}.")
    test = tests[0] if tests else "EQUALS"
    key, values = leaf.get("Key"), leaf.get("Values") or []
    read = dimension(key) if root == "Dimensions" else _tag(key)
    if test == "ABSENT":
        if root == "Dimensions" or values:
            raise Invalid("ABSENT is for tags, and takes no values.")
        return lambda used: not read(used)
    if not values:
        raise Invalid(f"{root} need Values to compare with.")
    fold = str.casefold if "CASE_INSENSITIVE" in options else str
    wanted, compare = [fold(value) for value in values], _TESTS[test]
    return lambda used: any(compare(fold(read(used)), each) for each in wanted)


def _tag(key: str | None) -> Callable[[Usage], str]:
    if not key:
        raise Invalid("Tags need a Key.")
    return lambda used: used.tags.get(key, "")
