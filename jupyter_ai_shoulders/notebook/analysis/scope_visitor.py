"""Walks a cell's syntax in the order in which it runs, and records names in its scopes.

Pure; called by ``notebook.analysis.name_analysis``. Code that runs at once is followed in its
order: a name that is certainly bound before it is read is not needed from outside. Bodies of
functions count when they are called, so their free names are kept separately
(``notebook.analysis.free_variables``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from jupyter_ai_shoulders.notebook.analysis.cell_scopes import CellScopes, ClassNames, bound_by
from jupyter_ai_shoulders.notebook.analysis.free_variables import free_names


def collect_names(body: Sequence[ast.stmt]) -> CellScopes:
    """Return the scopes after all statements of a cell."""
    walk = _Walk()
    walk.all(body)
    return walk.scopes


class _Walk:
    """One visitor for each kind of node that uses names."""

    def __init__(self) -> None:
        self.scopes = CellScopes()

    def _assign(self, target: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                self.scopes.calls_need.pop(name, None)
                self.scopes.bind(name)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for item in items:
                    self._assign(item)
            case ast.Starred(value=value):
                self._assign(value)
            case _:
                self._children(target)
                self.scopes.change(target)

    def _visit(self, node: ast.AST) -> None:
        visitor = _VISITORS.get(type(node))
        if visitor is None:
            self._children(node)
        else:
            visitor(self, node)

    def _children(self, node: ast.AST) -> None:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                self._visit(value)
            elif isinstance(value, list):
                self.all(value)  # pyright: ignore[reportUnknownArgumentType]  a list of nodes

    def all(self, nodes: Iterable[object]) -> None:
        """Visit those that are nodes."""
        for node in nodes:
            if isinstance(node, ast.AST):
                self._visit(node)

    def _maybe(self, nodes: Iterable[object]) -> set[str]:
        """Visit code that may not run; return the names it binds if it does."""
        before = self.scopes.bound.copy()
        self.scopes.depth += 1
        self.all(nodes)
        self.scopes.depth -= 1
        after, self.scopes.bound = self.scopes.bound, before
        return after

    def name(self, node: ast.Name) -> None:
        """A name that is read."""
        self.scopes.load(node.id)

    def constant(self, node: ast.Constant) -> None:
        """A constant has no names."""

    def expression(self, node: ast.Expr) -> None:
        """An expression statement."""
        self._visit(node.value)

    def call(self, node: ast.Call) -> None:
        """A call; first in the table for speed, like the two before: most of a cell is made of
        them.
        """
        self._visit(node.func)
        for argument in node.args:
            self._visit(argument)
        for keyword in node.keywords:
            self._visit(keyword.value)

    def attribute(self, node: ast.Attribute) -> None:
        """Access to an attribute."""
        self._visit(node.value)

    def assign(self, node: ast.Assign) -> None:
        """``a = b = value``: the value comes first."""
        self._value(node.value, node.targets[0])
        for target in node.targets:
            self._assign(target)
        self._keep_lambda(node.targets[0], node.value)

    def ann_assign(self, node: ast.AnnAssign) -> None:
        """``a: type = value``; without a value nothing is bound."""
        if node.value is not None:
            self._value(node.value, node.target)
            self._assign(node.target)
            self._keep_lambda(node.target, node.value)
        elif not isinstance(node.target, ast.Name):
            self._visit(node.target)
        self._visit(node.annotation)

    def _value(self, value: ast.expr, target: ast.expr) -> None:
        if isinstance(value, ast.Lambda) and isinstance(target, ast.Name):
            self._defaults(value.args)
        else:
            self._visit(value)

    def _keep_lambda(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(value, ast.Lambda) and isinstance(target, ast.Name) and not self.scopes.inner:
            self.scopes.calls_need[target.id] = free_names(value).reads

    def aug_assign(self, node: ast.AugAssign) -> None:
        """``a += value`` reads and changes; what it changes is read first."""
        if isinstance(node.target, ast.Name):
            self.scopes.load(node.target.id)
            self._visit(node.value)
            self.scopes.augment(node.target.id)
        else:
            self._children(node.target)
            self._visit(node.value)
            self.scopes.change(node.target)

    def walrus(self, node: ast.NamedExpr) -> None:
        """``(a := value)`` binds in the cell or class body, from within comprehensions too."""
        self._visit(node.value)
        self.scopes.bind_around(node.target.id)

    def delete(self, node: ast.Delete) -> None:
        """``del a, b[0]``."""
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.scopes.delete(target.id)
            else:
                self._children(target)
                self.scopes.change(target)

    def import_(self, node: ast.Import) -> None:
        """``import a.b as c``."""
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            self.scopes.bind(name)
            self.scopes.fixed[name] = f"import {alias.name}"

    def import_from(self, node: ast.ImportFrom) -> None:
        """``from a import b``; a star binds unknown names."""
        for alias in node.names:
            if alias.name == "*":
                self.scopes.opaque = True
                continue
            name = alias.asname or alias.name
            self.scopes.bind(name)
            self.scopes.fixed[name] = (
                f"from {'.' * node.level}{node.module or ''} import {alias.name}"
            )

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """``def``: its body runs when called, its decorators and defaults at once."""
        self.all(node.decorator_list)
        self._defaults(node.args)
        self._annotations(node)
        self.scopes.bind_function(node.name, free_names(node))
        args = node.args
        if not (self.scopes.inner or node.decorator_list or args.defaults or args.kw_defaults):
            self.scopes.fixed[node.name] = ast.dump(node)

    def _defaults(self, arguments: ast.arguments) -> None:
        self.all(arguments.defaults)
        self.all(arguments.kw_defaults)

    def _annotations(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        args = node.args
        every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
        self.all(arg.annotation for arg in every if arg is not None)
        self.all([node.returns])

    def lambda_(self, node: ast.Lambda) -> None:
        """A function that is passed on: it may be called at once."""
        self._defaults(node.args)
        outside, self.scopes.inner = self.scopes.inner, self.scopes.visible_inside()
        for name in free_names(node).reads:
            self.scopes.load(name)
        self.scopes.inner = outside

    def class_(self, node: ast.ClassDef) -> None:
        """``class``: its body runs at once in its own scope, which methods do not see."""
        self.all(node.decorator_list)
        self.all(node.bases)
        self.all(node.keywords)
        free = free_names(node)
        self.scopes.inner.append(ClassNames())
        self.all(node.body)
        self.scopes.inner.pop()
        self.scopes.bind_class(node.name, free)

    def comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> None:
        """The first source is evaluated outside, everything else in the comprehension's scope."""
        first, *others = node.generators
        self._visit(first.iter)
        own: set[str] = set()
        for generator in node.generators:
            own.update(bound_by(generator.target))
        outside = self.scopes.inner
        self.scopes.inner = [*self.scopes.visible_inside(), own]
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        rest: list[ast.AST] = [*first.ifs]
        for generator in others:
            rest += [generator.iter, *generator.ifs]
        targets = [g.target for g in node.generators if not isinstance(g.target, ast.Name)]
        self._maybe([*targets, *rest, *results])
        self.scopes.inner = outside

    def if_(self, node: ast.If) -> None:
        """The names that both branches bind are certainly bound."""
        self._visit(node.test)
        one, other = self._maybe(node.body), self._maybe(node.orelse)
        self.scopes.bound |= one & other

    def if_expression(self, node: ast.IfExp) -> None:
        """``a if test else b``."""
        self._visit(node.test)
        one, other = self._maybe([node.body]), self._maybe([node.orelse])
        self.scopes.bound |= one & other

    def bool_expression(self, node: ast.BoolOp) -> None:
        """All but the first operand may be skipped."""
        self._visit(node.values[0])
        self._maybe(node.values[1:])

    def compare(self, node: ast.Compare) -> None:
        """All but the first two operands may be skipped."""
        self._visit(node.left)
        self._visit(node.comparators[0])
        self._maybe(node.comparators[1:])

    def assert_(self, node: ast.Assert) -> None:
        """Its message may be skipped."""
        self._visit(node.test)
        self._maybe([node.msg])

    def for_(self, node: ast.For | ast.AsyncFor) -> None:
        """A loop may not run."""
        self._visit(node.iter)
        before = self.scopes.bound.copy()
        self.scopes.depth += 1
        self._assign(node.target)
        self.all(node.body)
        self.scopes.depth -= 1
        self.scopes.bound = before
        self._maybe(node.orelse)

    def while_(self, node: ast.While) -> None:
        """Its condition is evaluated at least once."""
        self._visit(node.test)
        self._maybe(node.body)
        self._maybe(node.orelse)

    def try_(self, node: ast.Try) -> None:
        """A handler cannot rely on the names that the body binds."""
        body = self._maybe(node.body)
        before, self.scopes.bound = self.scopes.bound, body
        ends = [self._maybe(node.orelse)]
        self.scopes.bound = before
        ends += [self._handler(handler) for handler in node.handlers]
        self.all(node.finalbody)
        self.scopes.bound |= set[str].intersection(*ends)

    def _handler(self, node: ast.ExceptHandler) -> set[str]:
        before = self.scopes.bound.copy()
        self.all([node.type])
        if node.name is not None:  # bound in the handler, deleted after it
            self.scopes.bound.add(node.name)
        after = self._maybe(node.body)
        self.scopes.bound = before
        return after - {node.name}

    def with_(self, node: ast.With | ast.AsyncWith) -> None:
        """``with a as b``."""
        for item in node.items:
            self._visit(item.context_expr)
            if item.optional_vars is not None:
                self._assign(item.optional_vars)
        self.all(node.body)

    def match_(self, node: ast.Match) -> None:
        """Any case, or none."""
        self._visit(node.subject)
        for case in node.cases:
            self._maybe([case.pattern, *([case.guard] if case.guard else []), *case.body])

    def pattern_name(self, node: ast.MatchAs | ast.MatchStar) -> None:
        """A pattern that binds what it matches."""
        self._children(node)
        if node.name is not None:
            self.scopes.bind(node.name)

    def pattern_mapping(self, node: ast.MatchMapping) -> None:
        """``{"a": x, **rest}``."""
        self._children(node)
        if node.rest is not None:
            self.scopes.bind(node.rest)


_VISITORS: Mapping[type[ast.AST], Callable[[_Walk, Any], None]] = {
    ast.Name: _Walk.name,
    ast.Constant: _Walk.constant,
    ast.Expr: _Walk.expression,
    ast.Call: _Walk.call,
    ast.Attribute: _Walk.attribute,
    ast.Assign: _Walk.assign,
    ast.AnnAssign: _Walk.ann_assign,
    ast.AugAssign: _Walk.aug_assign,
    ast.NamedExpr: _Walk.walrus,
    ast.Delete: _Walk.delete,
    ast.Import: _Walk.import_,
    ast.ImportFrom: _Walk.import_from,
    ast.FunctionDef: _Walk.function,
    ast.AsyncFunctionDef: _Walk.function,
    ast.Lambda: _Walk.lambda_,
    ast.ClassDef: _Walk.class_,
    ast.ListComp: _Walk.comprehension,
    ast.SetComp: _Walk.comprehension,
    ast.GeneratorExp: _Walk.comprehension,
    ast.DictComp: _Walk.comprehension,
    ast.If: _Walk.if_,
    ast.IfExp: _Walk.if_expression,
    ast.BoolOp: _Walk.bool_expression,
    ast.Compare: _Walk.compare,
    ast.Assert: _Walk.assert_,
    ast.For: _Walk.for_,
    ast.AsyncFor: _Walk.for_,
    ast.While: _Walk.while_,
    ast.Try: _Walk.try_,
    ast.TryStar: _Walk.try_,
    ast.With: _Walk.with_,
    ast.AsyncWith: _Walk.with_,
    ast.Match: _Walk.match_,
    ast.MatchAs: _Walk.pattern_name,
    ast.MatchStar: _Walk.pattern_name,
    ast.MatchMapping: _Walk.pattern_mapping,
}
