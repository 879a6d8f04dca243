"""Resolves the possible referents of names in Python code, and its literal texts.

Pure; used by ``tools.code_analysis.python_effects``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from jupyter_ai_shoulders.tools.code_analysis.effect_table import effect_index

ADDRESS = re.compile(r"(?:https?|ftps?|s3|s3a|gs|gcs|az|abfs|hf|ssh|sftp|webdav)://", re.IGNORECASE)
MAX_CANDIDATES = 20
"""Most full names that are followed for one name."""
_MAX_TEXT_DEPTH = 6
_TEXT_CALLS = {("Path",), ("str",), ("join",)}


@dataclass(slots=True)
class NameBindings:
    """The possible referents of the code's names."""

    full: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    imported: set[str] = field(default_factory=set[str])
    bound: set[str] = field(default_factory=set[str])
    texts: dict[str, list[ast.expr]] = field(default_factory=dict[str, list[ast.expr]])
    """The values assigned to each name."""
    has_more: bool = False
    """Whether a name has more referents than were followed."""
    _roots: dict[str, tuple[tuple[str, ...], ...]] = field(
        default_factory=dict[str, tuple[tuple[str, ...], ...]]
    )

    def record(self, node: ast.AST) -> None:
        """Record the names that a node binds."""
        match node:
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, value)
            case ast.NamedExpr(target=target, value=value):
                self._assign(target, value)
            case ast.Name(id=name, ctx=ast.Store()):
                self.bound.add(name)
                self.texts.setdefault(name, [])
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                self.bound.add(name)
            case ast.ClassDef(name=name) | ast.arg(arg=name):
                self.bound.add(name)
            case ast.ExceptHandler(name=str() as name):
                self.bound.add(name)
            case _:
                pass

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                name = alias.asname or alias.name.partition(".")[0]
                full = alias.name if alias.asname else name
            else:
                name, full = alias.asname or alias.name, f"{node.module or ''}.{alias.name}"
            self.bound.add(name)
            self.imported.add(name)
            self.full.setdefault(name, set()).add(full)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if not isinstance(target, ast.Name):
            return
        self.texts.setdefault(target.id, []).append(value)
        full = dotted_parts(value)
        if full and full[0] != "":
            self.full.setdefault(target.id, set()).add(".".join(full))

    def candidates(self, parts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Return all full names that a dotted name may have, without leading underscores."""
        root, rest = parts[0], parts[1:]
        if root not in self._roots:
            roots = {root, effect_index().aliases.get(root, root), *self._referents(root)}
            self._roots[root] = tuple(tuple(each.split(".")) for each in roots)
        return tuple(
            tuple(part.strip("_") or part for part in (*each, *rest)) for each in self._roots[root]
        )

    def _referents(self, name: str) -> set[str]:
        """Return the referents of a name, through chains of assignments."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            for each in self._one_step(waiting.pop()) - found:
                if len(found) >= MAX_CANDIDATES:
                    self.has_more = True
                    return found
                found.add(each)
                waiting.append(each)
        return found

    def _one_step(self, name: str) -> set[str]:
        root, dot, rest = name.partition(".")
        meanings = self.full.get(root, frozenset[str]())
        return {f"{each}{dot}{rest}" for each in meanings}


def dotted_parts(node: ast.expr) -> tuple[str, ...]:
    """Return the parts of a dotted name; a part that is not a name is empty."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    elif parts:
        parts.append("")
    return tuple(reversed(parts))


def literal_text(node: ast.expr | None, names: NameBindings, depth: int) -> str | None:
    """Return the text an expression begins with; None if the code does not show it."""
    text: str | None = None
    if depth > _MAX_TEXT_DEPTH:
        return None
    match node:
        case ast.Constant(value=value):
            text = value if isinstance(value, str) else ""
        case ast.JoinedStr(values=[first, *_]):
            text = literal_text(first, names, depth + 1)
        case ast.BinOp(left=left, right=right, op=ast.Div() | ast.Add() | ast.Mod()):
            text = _sum(literal_text(left, names, depth + 1), right, names, depth)
        case ast.Call(func=func, args=[first, *_]) if dotted_parts(func)[-1:] in _TEXT_CALLS:
            text = literal_text(first, names, depth + 1)
        case ast.Name(id=name) if 0 < len(names.texts.get(name, ())) <= MAX_CANDIDATES:
            texts = [literal_text(value, names, depth + 1) for value in names.texts[name]]
            address = next((each for each in texts if each and ADDRESS.match(each)), None)
            text = address or (None if None in texts else texts[0])
        case _:
            pass
    return text


def _sum(left: str | None, right: ast.expr, names: NameBindings, depth: int) -> str | None:
    """Return a concatenation: joined parts may form an address that no part has alone."""
    if left is None or ADDRESS.match(left):
        return left
    rest = literal_text(right, names, depth + 1)
    return None if rest is None else left + rest
