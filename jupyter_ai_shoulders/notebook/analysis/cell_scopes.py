"""The scopes of a cell during the walk: which names are bound, and where they are visible.

Filled by ``notebook.analysis.scope_visitor`` in the order in which the cell runs, read by
``notebook.analysis.name_analysis``. Handles names and targets, no other syntax.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from jupyter_ai_shoulders.notebook.analysis.free_variables import FreeNames

OPAQUE_NAMES = frozenset({"exec", "globals", "locals", "get_ipython"})
"""Code that uses these may bind names that analysis cannot see."""


def bound_by(target: ast.expr) -> Iterable[str]:
    """Return the names that an assignment to ``target`` binds."""
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=items) | ast.List(elts=items):
            for item in items:
                yield from bound_by(item)
        case ast.Starred(value=value):
            yield from bound_by(value)
        case _:
            return


class ClassNames(set[str]):
    """Names of a class body: visible in it, but not inside its functions."""


class CellScopes:
    """What a cell has done with names so far; the fields correspond to ``CellNames``."""

    def __init__(self) -> None:
        self.uses: set[str] = set()
        self.defines: set[str] = set()
        self.changes: set[str] = set()
        self.calls_need: dict[str, frozenset[str]] = {}
        self.fixed: dict[str, str] = {}
        self.opaque = False
        self.bound: set[str] = set()
        """Certainly bound by the cell so far."""
        self.inner: list[set[str]] = []
        """Names of the enclosing comprehensions, lambdas and class bodies."""
        self.depth = 0
        """The number of enclosing conditions."""
        self._methods: dict[str, frozenset[str]] = {}
        """Names needed by the functions of class bodies, for those called in them."""
        self._times_bound: dict[str, int] = {}

    def is_fixed(self, name: str) -> bool:
        """Return whether the name has only its one binding."""
        return self._times_bound.get(name) == 1 and name not in self.changes

    def visible_inside(self) -> list[set[str]]:
        """Return the scopes visible in functions and comprehensions: not those of class bodies."""
        return [names for names in self.inner if not isinstance(names, ClassNames)]

    def load(self, name: str) -> None:
        """Record that a name is read."""
        if self.inner and self._is_inner(name):
            self._needed(self._methods.get(name, ()), set())
            return
        if name not in self.bound:
            self.uses.add(name)
        if name in self.calls_need:
            self._needed(self.calls_need[name], set())
        elif name in OPAQUE_NAMES:
            self.opaque = True

    def bind(self, name: str) -> None:
        """Record that a name is bound."""
        if self.inner:  # a class body, or a walrus in a comprehension
            self.inner[-1].add(name)
            return
        self.defines.add(name)
        self.bound.add(name)
        self._times_bound[name] = self._times_bound.get(name, 0) + 1

    def bind_around(self, name: str) -> None:
        """Bind in the cell or class body, from within comprehensions too."""
        outside = self.inner
        self.inner = [names for names in outside if isinstance(names, ClassNames)]
        self.bind(name)
        self.inner = outside

    def bind_function(self, name: str, free: FreeNames) -> None:
        """Bind a function; the names it needs are read when it is called."""
        self.bind(name)
        if self.inner:
            self._methods[name] = free.reads
        else:
            self._keep(name, free)

    def bind_class(self, name: str, free: FreeNames) -> None:
        """Bind a class; ``free`` is what its methods need."""
        self.bind(name)
        if not self.inner:
            self._keep(name, free)

    def augment(self, name: str) -> None:
        """Record that a name that was just read is changed (``a += 1``)."""
        if self.inner:
            self.bind(name)
        else:
            self.changes.add(name)

    def delete(self, name: str) -> None:
        """Record ``del name``."""
        self.load(name)
        if self.inner:
            return
        self.bound.discard(name)
        if name in self.defines and not self.depth:
            self.defines.discard(name)
        self.changes.add(name)

    def change(self, target: ast.expr) -> None:
        """Record that a part of an object is assigned or deleted."""
        root = target
        while isinstance(root, ast.Attribute | ast.Subscript | ast.Starred):
            root = root.value
        if isinstance(root, ast.Name) and not self._is_inner(root.id):
            self.changes.add(root.id)

    def _is_inner(self, name: str) -> bool:
        return any(name in names for names in self.inner)

    def _needed(self, needs: Iterable[str], seen: set[str]) -> None:
        """Read the names a mentioned function needs, since it may be called."""
        for need in needs:
            if need in seen:
                continue
            seen.add(need)
            if need not in self.bound:
                self.uses.add(need)
            self._needed(self.calls_need.get(need, ()), seen)

    def _keep(self, name: str, free: FreeNames) -> None:
        self.defines |= free.writes
        self.calls_need[name] = free.reads
