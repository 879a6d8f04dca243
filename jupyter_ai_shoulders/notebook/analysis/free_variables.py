"""The names of the notebook that a function or class uses when it is called; pure.

Used by ``notebook.analysis.scope_visitor``. Python's scopes: a name assigned anywhere in a function
is local throughout, unless it is declared ``global``; the names of a class body are not visible in
its methods.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
ComprehensionNode = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


@dataclass(frozen=True, slots=True)
class FreeNames:
    """Names of the notebook that a call reads, and those it may bind (``global``)."""

    reads: frozenset[str]
    writes: frozenset[str]


def free_names(node: FunctionNode | ast.ClassDef) -> FreeNames:
    """Return the free names of a function, or of all methods of a class."""
    if isinstance(node, ast.ClassDef):
        found = [free_names(method) for method in _functions(node.body)]
        return FreeNames(
            frozenset[str]().union(*(free.reads for free in found)),
            frozenset[str]().union(*(free.writes for free in found)),
        )
    scope = _Scope()
    scope.own.update(arg.arg for arg in _arguments(node.args))
    scope.own.update(param.name for param in getattr(node, "type_params", ()))
    scope.visit_all(node.body if isinstance(node.body, list) else [node.body])
    own = scope.own - scope.declared
    return FreeNames(
        frozenset(scope.reads - own), frozenset((scope.own & scope.globals) | scope.writes)
    )


def _arguments(args: ast.arguments) -> Iterable[ast.arg]:
    every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
    return (arg for arg in every if arg is not None)


def _functions(body: Iterable[ast.AST]) -> Iterable[FunctionNode | ast.ClassDef]:
    """Yield the functions and classes of a class body, not nested ones."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield node
        else:
            yield from _functions(ast.iter_child_nodes(node))


class _Scope(ast.NodeVisitor):
    """Collects what one function body reads and binds."""

    def __init__(self) -> None:
        self.reads: set[str] = set()
        self.own: set[str] = set()
        self.globals: set[str] = set()
        self.declared: set[str] = set()
        self.writes: set[str] = set()
        """Bound in the notebook by nested functions."""

    def visit_all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        (self.reads if isinstance(node.ctx, ast.Load) else self.own).add(node.id)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.reads.add(node.target.id)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.globals.update(node.names)
        self.declared.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.declared.update(node.names)
        self.reads.update(node.names)

    def visit_Import(self, node: ast.Import) -> None:
        self.own.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.own.update(alias.asname or alias.name for alias in node.names)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name is not None:
            self.own.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name is not None:
            self.own.add(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self.visit_MatchAs(node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest is not None:
            self.own.add(node.rest)
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.own.add(node.name)
        self.visit_all(node.decorator_list)
        self.visit_all([arg.annotation for arg in _arguments(node.args)])
        self.visit_all([node.returns])
        self._inside(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._inside(node)

    def _inside(self, node: FunctionNode) -> None:
        self.visit_all([*node.args.defaults, *node.args.kw_defaults])
        free = free_names(node)
        self.reads |= free.reads
        self.writes |= free.writes

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.own.add(node.name)
        self.visit_all([*node.decorator_list, *node.bases, *node.keywords])
        body = _Scope()
        body.visit_all(item for item in node.body)
        # A name that the body binds may be read before, and its comprehensions and nested classes
        # do not see it: everything read may come from the notebook.
        self.reads |= body.reads | free_names(node).reads
        self.writes |= body.writes | (body.own & body.globals)

    def _comprehension(self, node: ComprehensionNode) -> None:
        first = node.generators[0]
        self.visit(first.iter)
        inside = _Scope()
        for generator in node.generators:
            inside.visit(generator.target)
        targets = set(inside.own)
        for generator in node.generators:
            inside.visit_all(
                generator.ifs if generator is first else [generator.iter, *generator.ifs]
            )
        inside.visit_all([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self.reads |= inside.reads - targets
        self.own |= inside.own - targets  # by a walrus
        self.writes |= inside.writes

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node)
