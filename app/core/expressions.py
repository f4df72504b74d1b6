"""Arithmetic that a user writes, evaluated without trust: numbers, names, a few functions, and nothing else."""

import ast
import math
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any

LONGEST = 1000
"""Characters of an expression: so that neither parsing nor evaluating one can take long."""
FUNCTIONS: Mapping[str, Callable[..., float]] = {
    name: getattr(math, name)
    for name in ("exp", "log", "log2", "log10", "sqrt", "sin", "cos", "tan", "atan", "tanh", "floor", "ceil")
} | {"abs": abs, "min": min, "max": max}
CONSTANTS: Mapping[str, float] = {"pi": math.pi, "e": math.e}
_BINARY: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: math.pow,
}
_COMPARE: Mapping[type, Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_UNARY: Mapping[type, Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Not: operator.not_}
Names = Mapping[str, float | str]


class BadExpression(ValueError):
    """The text is no expression that is evaluated here; the message says what is wrong with it."""


class Expression:
    """A parsed expression of numbers; a condition counts as 1 or 0, and texts can be compared."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        """`names` are all that it may use. BadExpression."""
        self.text = text
        if len(text) > LONGEST:
            raise BadExpression(f"an expression of more than {LONGEST} characters; shorten it.")
        try:
            self._body = ast.parse(text.strip(), mode="eval").body
            self._check(self._body, names)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = str(error) if isinstance(error, BadExpression) else "it is no arithmetic expression"
            raise BadExpression(f"'{text.strip()[:100]}' cannot be evaluated: {reason}.") from None

    def _check(self, node: ast.AST, names: Collection[str]) -> None:
        match node:
            case ast.Constant(value=bool() | int() | float() | str()):
                pass
            case ast.Name(id=name) if name in names or name in CONSTANTS:
                pass
            case ast.Name(id=name):
                raise BadExpression(f"there is no '{name}'; there are {', '.join(sorted(names))}")
            case ast.UnaryOp(op=op) if type(op) in _UNARY:
                self._check(node.operand, names)
            case ast.BinOp(op=op) if type(op) in _BINARY:
                self._check(node.left, names)
                self._check(node.right, names)
            case ast.BoolOp(values=parts):
                for part in parts:
                    self._check(part, names)
            case ast.Compare(ops=ops) if all(type(op) in _COMPARE for op in ops):
                for part in (node.left, *node.comparators):
                    self._check(part, names)
            case ast.IfExp():
                for part in (node.test, node.body, node.orelse):
                    self._check(part, names)
            case ast.Call(func=ast.Name(id=name), args=[_, *_], keywords=[]) if name in FUNCTIONS:
                for part in node.args:
                    self._check(part, names)
            case _:
                raise BadExpression(
                    f"{type(node).__name__} is not allowed; use numbers, names, + - * / ** and functions"
                )

    def value(self, names: Names) -> float | None:
        """What it comes to, or None where it has no finite value: a name is missing, or mathematics has none."""
        try:
            found = float(self._value(self._body, names))
        except (ArithmeticError, KeyError, RecursionError, TypeError, ValueError):
            return None
        return found if math.isfinite(found) else None

    def _value(self, node: Any, names: Names) -> Any:
        match node:
            case ast.Constant(value=constant):
                return constant
            case ast.Name(id=name):
                return names[name] if name in names else CONSTANTS[name]
            case ast.UnaryOp():
                return _UNARY[type(node.op)](self._number(node.operand, names))
            case ast.BinOp():
                return _BINARY[type(node.op)](self._number(node.left, names), self._number(node.right, names))
            case ast.BoolOp(op=ast.And()):
                return all(self._value(part, names) for part in node.values)
            case ast.BoolOp():
                return any(self._value(part, names) for part in node.values)
            case ast.Compare():
                values = [self._value(part, names) for part in (node.left, *node.comparators)]
                return all(_COMPARE[type(op)](*values[n : n + 2]) for n, op in enumerate(node.ops))
            case ast.IfExp():
                return self._value(node.body if self._value(node.test, names) else node.orelse, names)
            case _:
                return float(FUNCTIONS[node.func.id](*(self._number(part, names) for part in node.args)))

    def _number(self, node: Any, names: Names) -> float:
        """TypeError for a text: `%` would write one as long as it is told."""
        if isinstance(found := self._value(node, names), str):
            raise TypeError(found)
        return float(found)
