"""Which names a cell of Python binds, changes and needs, read off its syntax (chapter 06).

Pure; used by ``notebook.staleness``. What runs at once is followed in its order: a name that is
surely bound before it is read is not needed from outside. Bodies of functions count when somebody
calls them, so their free names are kept apart. What no syntax tells (``exec``, star imports,
``%run``) makes a cell opaque; what does not parse is unknown. Method calls that change their
object (``rows.append``) are not seen as changes.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jupyter_ai_shoulders.notebook.function_names import free_names
from jupyter_ai_shoulders.notebook.magics import PlainCell, plain_cell

OPAQUE_NAMES = frozenset({"exec", "globals", "locals", "get_ipython"})
"""Whoever speaks of these may bind names that nobody sees."""
_MAY_WARN = re.compile(r"\\|[0-9a-fA-F_.](?:if|else|and|or|in|is|for|not)\b")
"""An escape, or a keyword right behind a number: all that parsing itself warns of."""


@dataclass(frozen=True, slots=True)
class CellNames:
    """What a cell does with the names of the kernel."""

    uses: frozenset[str] = frozenset()
    """Read as it runs, before it surely bound them itself."""
    defines: frozenset[str] = frozenset()
    """Bound, whatever they were before."""
    changes: frozenset[str] = frozenset()
    """Changed in place: ``df["a"] = 1``, ``n += 1``, ``del rows[0]``, ``del x``."""
    mentions: frozenset[str] = frozenset()
    """Spoken of in a magic or a shell line; read if they are there."""
    calls_need: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Free names of the functions and classes it defines: read when those are called."""
    fixed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names that only an import or a plain ``def`` binds, with its text: the same each time."""
    opaque: bool = False
    """Whether it may bind names that nobody sees."""
    known: bool = True
    """False when the source could not be read as Python."""

    @property
    def touches(self) -> frozenset[str]:
        """Names that are others after it ran."""
        return self.defines | self.changes


UNKNOWN = CellNames(opaque=True, known=False)


def cell_names(source: str) -> CellNames:
    """Return what a cell does with names; ``UNKNOWN`` when it does not parse."""
    plain = plain_cell(source)
    try:
        return _Walk(plain).names(_parsed(plain.code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return UNKNOWN


def _parsed(code: str) -> list[ast.stmt]:
    """Parse; what Python warns of is the user's code, not ours. To silence it takes a while."""
    if _MAY_WARN.search(code) is None:
        return ast.parse(code).body
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code).body


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


class _ClassNames(set[str]):
    """Names of a class body: seen in it, and nowhere inside of its functions."""


class _Walk:
    """Goes through a cell in the order in which it runs."""

    def __init__(self, plain: PlainCell) -> None:
        self._plain = plain
        self._uses: set[str] = set()
        self._defines: set[str] = set()
        self._changes: set[str] = set()
        self._calls_need: dict[str, frozenset[str]] = {}
        self._fixed: dict[str, str] = {}
        self._times_bound: dict[str, int] = {}
        self._opaque = plain.opaque
        self._bound: set[str] = set()
        """Surely bound by the cell so far."""
        self._inner: list[set[str]] = []
        """Names of comprehensions, lambdas and class bodies around."""
        self._methods: dict[str, frozenset[str]] = {}
        """What the functions of class bodies need, for those called in them."""
        self._depth = 0
        """How many conditions are around."""

    def names(self, body: Sequence[ast.stmt]) -> CellNames:
        """Return what was found."""
        for statement in body:
            self._visit(statement)
        separate = self._plain.separate
        defines = frozenset[str]() if separate else frozenset(self._defines | self._plain.binds)
        fixed = {name: text for name, text in self._fixed.items() if self._is_fixed(name)}
        return CellNames(
            uses=frozenset(self._uses),
            defines=defines,
            changes=frozenset(self._changes),
            mentions=frozenset(self._plain.mentions),
            calls_need={} if separate else self._calls_need,
            fixed={} if separate else fixed,
            opaque=self._opaque,
        )

    def _is_fixed(self, name: str) -> bool:
        return self._times_bound.get(name) == 1 and name not in self._changes

    # names

    def _is_inner(self, name: str) -> bool:
        return any(name in names for names in self._inner)

    def _load(self, name: str) -> None:
        if self._inner and self._is_inner(name):
            self._needed(self._methods.get(name, ()), set())
            return
        if name not in self._bound:
            self._uses.add(name)
        if name in self._calls_need:
            self._needed(self._calls_need[name], set())
        elif name in OPAQUE_NAMES:
            self._opaque = True

    def _needed(self, needs: Iterable[str], seen: set[str]) -> None:
        """Whoever speaks of a function of this cell may call it."""
        for need in needs:
            if need in seen:
                continue
            seen.add(need)
            if need not in self._bound:
                self._uses.add(need)
            self._needed(self._calls_need.get(need, ()), seen)

    def _bind(self, name: str) -> None:
        if self._inner:  # a class body, or a walrus in a comprehension
            self._inner[-1].add(name)
            return
        self._defines.add(name)
        self._bound.add(name)
        self._times_bound[name] = self._times_bound.get(name, 0) + 1

    def _change(self, target: ast.expr) -> None:
        """Take note that a part of something is assigned or deleted."""
        root = target
        while isinstance(root, ast.Attribute | ast.Subscript | ast.Starred):
            root = root.value
        if isinstance(root, ast.Name) and not self._is_inner(root.id):
            self._changes.add(root.id)

    def _assign(self, target: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                self._calls_need.pop(name, None)
                self._bind(name)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for item in items:
                    self._assign(item)
            case ast.Starred(value=value):
                self._assign(value)
            case _:
                self._children(target)
                self._change(target)

    # nodes

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
                self._all(value)  # pyright: ignore[reportUnknownArgumentType]  a list of nodes

    def _all(self, nodes: Iterable[object]) -> None:
        for node in nodes:
            if isinstance(node, ast.AST):
                self._visit(node)

    def _maybe(self, nodes: Iterable[object]) -> set[str]:
        """Visit what may not run; return what is bound if it does."""
        before = self._bound.copy()
        self._depth += 1
        self._all(nodes)
        self._depth -= 1
        after, self._bound = self._bound, before
        return after

    def name(self, node: ast.Name) -> None:
        """A name that is read."""
        self._load(node.id)

    def constant(self, node: ast.Constant) -> None:
        """Nothing."""

    def attribute(self, node: ast.Attribute) -> None:
        """Reading a part of something."""
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
        if isinstance(value, ast.Lambda) and isinstance(target, ast.Name) and not self._inner:
            self._calls_need[target.id] = free_names(value).reads

    def aug_assign(self, node: ast.AugAssign) -> None:
        """``a += value`` reads and changes; what it changes is read first."""
        if isinstance(node.target, ast.Name):
            name = node.target.id
            self._load(name)
            self._visit(node.value)
            if self._inner:
                self._bind(name)
            else:
                self._changes.add(name)
        else:
            self._children(node.target)
            self._visit(node.value)
            self._change(node.target)

    def walrus(self, node: ast.NamedExpr) -> None:
        """``(a := value)`` binds in the cell or class body, from within comprehensions too."""
        self._visit(node.value)
        outside = self._inner
        self._inner = [names for names in outside if isinstance(names, _ClassNames)]
        self._bind(node.target.id)
        self._inner = outside

    def delete(self, node: ast.Delete) -> None:
        """``del a, b[0]``."""
        for target in node.targets:
            if not isinstance(target, ast.Name):
                self._children(target)
                self._change(target)
                continue
            name = target.id
            self._load(name)
            if self._inner:
                continue
            self._bound.discard(name)
            if name in self._defines and not self._depth:
                self._defines.discard(name)
            self._changes.add(name)

    def import_(self, node: ast.Import) -> None:
        """``import a.b as c``."""
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            self._bind(name)
            self._fixed[name] = f"import {alias.name}"

    def import_from(self, node: ast.ImportFrom) -> None:
        """``from a import b``; with a star nobody knows what."""
        for alias in node.names:
            if alias.name == "*":
                self._opaque = True
                continue
            name = alias.asname or alias.name
            self._bind(name)
            self._fixed[name] = f"from {'.' * node.level}{node.module or ''} import {alias.name}"

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """``def``: its body waits for a call, its decorators and defaults do not."""
        self._all(node.decorator_list)
        self._defaults(node.args)
        self._annotations(node)
        free = free_names(node)
        self._bind(node.name)
        if self._inner:
            self._methods[node.name] = free.reads
            return
        self._defines |= free.writes
        self._calls_need[node.name] = free.reads
        if not (node.decorator_list or node.args.defaults or node.args.kw_defaults):
            self._fixed[node.name] = ast.dump(node)

    def _defaults(self, arguments: ast.arguments) -> None:
        self._all(arguments.defaults)
        self._all(arguments.kw_defaults)

    def _annotations(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        args = node.args
        every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
        self._all(arg.annotation for arg in every if arg is not None)
        self._all([node.returns])

    def lambda_(self, node: ast.Lambda) -> None:
        """A function that is handed on: it may be called at once."""
        self._defaults(node.args)
        outside, self._inner = self._inner, self._visible_inside()
        for name in free_names(node).reads:
            self._load(name)
        self._inner = outside

    def class_(self, node: ast.ClassDef) -> None:
        """``class``: its body runs at once with names of its own; methods do not see those."""
        self._all(node.decorator_list)
        self._all(node.bases)
        self._all(node.keywords)
        free = free_names(node)
        self._inner.append(_ClassNames())
        self._all(node.body)
        self._inner.pop()
        self._bind(node.name)
        if not self._inner:
            self._defines |= free.writes
            self._calls_need[node.name] = free.reads

    def comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> None:
        """Its first source is read outside, all else sees its own names."""
        first, *others = node.generators
        self._visit(first.iter)
        own: set[str] = set()
        for generator in node.generators:
            own.update(bound_by(generator.target))
        outside = self._inner
        self._inner = [*self._visible_inside(), own]
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        rest: list[ast.AST] = [*first.ifs]
        for generator in others:
            rest += [generator.iter, *generator.ifs]
        targets = [g.target for g in node.generators if not isinstance(g.target, ast.Name)]
        self._maybe([*targets, *rest, *results])
        self._inner = outside

    def _visible_inside(self) -> list[set[str]]:
        """Return the scopes that functions and comprehensions see: not those of class bodies."""
        return [names for names in self._inner if not isinstance(names, _ClassNames)]

    def if_(self, node: ast.If) -> None:
        """Bound for sure is what both branches bind."""
        self._visit(node.test)
        one, other = self._maybe(node.body), self._maybe(node.orelse)
        self._bound |= one & other

    def if_expression(self, node: ast.IfExp) -> None:
        """``a if test else b``."""
        self._visit(node.test)
        one, other = self._maybe([node.body]), self._maybe([node.orelse])
        self._bound |= one & other

    def bool_expression(self, node: ast.BoolOp) -> None:
        """All but the first operand may be left out."""
        self._visit(node.values[0])
        self._maybe(node.values[1:])

    def compare(self, node: ast.Compare) -> None:
        """All but the first two operands may be left out."""
        self._visit(node.left)
        self._visit(node.comparators[0])
        self._maybe(node.comparators[1:])

    def assert_(self, node: ast.Assert) -> None:
        """Its message may be left out."""
        self._visit(node.test)
        self._maybe([node.msg])

    def for_(self, node: ast.For | ast.AsyncFor) -> None:
        """A loop may not run."""
        self._visit(node.iter)
        before = self._bound.copy()
        self._depth += 1
        self._assign(node.target)
        self._all(node.body)
        self._depth -= 1
        self._bound = before
        self._maybe(node.orelse)

    def while_(self, node: ast.While) -> None:
        """Its condition is read once at least."""
        self._visit(node.test)
        self._maybe(node.body)
        self._maybe(node.orelse)

    def try_(self, node: ast.Try) -> None:
        """A handler cannot rely on what the body binds."""
        body = self._maybe(node.body)
        before, self._bound = self._bound, body
        ends = [self._maybe(node.orelse)]
        self._bound = before
        ends += [self._handler(handler) for handler in node.handlers]
        self._all(node.finalbody)
        self._bound |= set[str].intersection(*ends)

    def _handler(self, node: ast.ExceptHandler) -> set[str]:
        before = self._bound.copy()
        self._all([node.type])
        if node.name is not None:  # bound while the handler runs, gone after
            self._bound.add(node.name)
        after = self._maybe(node.body)
        self._bound = before
        return after - {node.name}

    def with_(self, node: ast.With | ast.AsyncWith) -> None:
        """``with a as b``."""
        for item in node.items:
            self._visit(item.context_expr)
            if item.optional_vars is not None:
                self._assign(item.optional_vars)
        self._all(node.body)

    def match_(self, node: ast.Match) -> None:
        """Any case, or none."""
        self._visit(node.subject)
        for case in node.cases:
            self._maybe([case.pattern, *([case.guard] if case.guard else []), *case.body])

    def pattern_name(self, node: ast.MatchAs | ast.MatchStar) -> None:
        """A pattern that binds what it matches."""
        self._children(node)
        if node.name is not None:
            self._bind(node.name)

    def pattern_mapping(self, node: ast.MatchMapping) -> None:
        """``{"a": x, **rest}``."""
        self._children(node)
        if node.rest is not None:
            self._bind(node.rest)


_VISITORS: Mapping[type[ast.AST], Callable[[_Walk, Any], None]] = {
    ast.Name: _Walk.name,
    ast.Constant: _Walk.constant,
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
