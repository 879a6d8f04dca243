"""Detects Python loops that take long, from their heads. Pure; used by ``python_effects``."""

from __future__ import annotations

import ast

from jupyter_ai_shoulders.tools.code_analysis.python_names import dotted_parts

LONG_RANGE = 5_000_000
"""Least iterations of a long loop."""

Loop = ast.While | ast.For | ast.AsyncFor


def is_long_loop(node: Loop) -> bool:
    """Return whether a loop never ends by itself, waits, or has very many iterations."""
    if isinstance(node, ast.While):
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    else:
        endless = _is_endless(node.iter)
    inside = [each for part in node.body for each in ast.walk(part)]
    leaves = any(isinstance(each, ast.Break | ast.Return | ast.Raise) for each in inside)
    sleeps = any(
        isinstance(each, ast.Call) and dotted_parts(each.func)[-1:] == ("sleep",) for each in inside
    )
    return (endless and not leaves) or sleeps or _rounds(node) >= LONG_RANGE


def literal_number(node: ast.expr | None) -> float:
    """Return the value of a literal number, 0 for any other expression."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.BinOp(left=left, right=right, op=ast.Mult()):
            return literal_number(left) * literal_number(right)
        case ast.BinOp(left=left, right=right, op=ast.Pow()):
            base, power = literal_number(left), literal_number(right)
            return base**power if 0 < base <= 1000 and 0 <= power <= 20 else 0.0
        case _:
            return 0.0


def _is_endless(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = dotted_parts(node.func)[-1:]
    return name in {("count",), ("cycle",)} or (name == ("repeat",) and len(node.args) == 1)


def _rounds(node: Loop) -> float:
    """Return the iterations of a loop over a range, with directly nested loops."""
    if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call):
        return 0
    if dotted_parts(node.iter.func)[-1:] not in {("range",), ("trange",)}:
        return 0
    given = node.iter.args
    end = given[1 if len(given) > 1 else 0] if given else None
    inner = [_rounds(each) for each in node.body if isinstance(each, ast.For)]
    return literal_number(end) * max([1.0, *inner])
