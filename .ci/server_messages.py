"""Finds the texts of the server that users read: titles of calls, errors, hints, notices.

A text is found by its use: the first argument of an error, a `title`, a `hint`, the `text` of a
notice, the result of a function or the value of an attribute that holds such texts. Constants,
f-strings, choices between them and results of functions of the same module are followed; an
inserted value becomes a placeholder, `%1` and so on. A text that cannot be followed is
left out and stays English in the page. Called by messages.py.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "jupyter_ai_shoulders"
SKIPPED = ("testing", "evaluation", "cli", "client", "kernel", "proxy", "providers/demo")
"""The page does not show these texts, except the demo's, which answers in English like a model; the
proxy answers like each provider.
"""

ERRORS = {"ShouldersError", "MeaningUnavailable"}
FIELDS = {
    "title",
    "hint",
    "message",
    "always_ask_reason",
    "note",
    "notes",
    "notice",
    "what",
    "problem",
}
TEXTS = {"Notice", "BudgetNotice", "ApprovalReason", "Deny"}
"""Classes whose `text` users read."""
REASONS = {"IndexedFile", "ResolvedWork", "AddedReference"}
"""Classes whose `reason` users read."""
TABLES = {
    ("providers/http/error_mapping.py", "HINTS"),
    ("providers/http/error_mapping.py", "_SAID"),
    ("providers/setup/connection_test.py", "STREAM_BROKEN"),
    ("providers/setup/connection_test.py", "CALL_BROKEN"),
    ("core/embedding/embedder.py", "NO_EMBEDDER_HINT"),
    ("retrieval/indexer.py", "REBUILT"),
    ("host/search/conversation_source.py", "NOT_READ"),
    ("host/web/service_settings.py", "_PURPOSES"),
}
"""Texts of constants that the search cannot follow."""
RESULTS = {
    ("host/search/document_source.py", "notices"),
    ("host/search/document_source.py", "reason"),
    ("retrieval/service.py", "_warning"),
}
"""Functions that return such texts."""
ATTRIBUTES = {
    ("host/search/conversation_source.py", "_problem"),
    ("retrieval/indexer.py", "error"),
    ("retrieval/meaning_index.py", "error"),
}
"""Attributes of `self` that hold such texts."""
MOST_CHOICES = 24
DEEPEST = 8
ENOUGH_LETTERS = 3
FORMATTED = re.compile(r"\{[a-z_]+(?::[^{}]*)?\}")

Piece = str | None
"""A part of a text; None is an inserted value."""
Text = tuple[Piece, ...]
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """A module of the package, and the definitions its texts may refer to."""

    path: str
    tree: ast.Module

    @cached_property
    def constants(self) -> dict[str, ast.expr]:
        return {
            target.id: node.value
            for node in self.tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }

    @cached_property
    def functions(self) -> dict[str, list[Function]]:
        found: dict[str, list[Function]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, Function):
                found.setdefault(node.name, []).append(node)
        return found


def messages() -> dict[str, set[str]]:
    """Return each text with the files that contain it."""
    modules = [
        Module(path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted(PACKAGE.rglob("*.py"))
        if not path.relative_to(PACKAGE).as_posix().startswith(SKIPPED)
    ]
    search = Search(Names.of(modules))
    found: dict[str, set[str]] = {}
    for module in modules:
        for text in search.texts(module):
            written = numbered(text)
            if is_worth(written):
                found.setdefault(written, set()).add(f"jupyter_ai_shoulders/{module.path}")
    return found


def numbered(text: Text) -> str:
    """Return a text with numbered placeholders."""
    number = 0
    written = ""
    for piece in text:
        number += piece is None
        written += f"%{number}" if piece is None else piece.replace("%", "%%")
    return written


def is_worth(written: str) -> bool:
    """Return whether there is anything to translate: not a key, a file name or JSON."""
    is_text = " " in written or re.fullmatch("[A-Z][a-z]+", written) is not None
    return is_text and has_words(written) and not written.startswith("{")


def has_words(written: str) -> bool:
    """Return whether there is more than values and code."""
    words = re.sub(r"%\d+|`[^`]*`", "", written)
    return len(re.findall(r"[^\W\d_]", words)) >= ENOUGH_LETTERS


@dataclass(frozen=True)
class Names:
    """The errors of the package, and the parameters of its functions and classes."""

    errors: frozenset[str]
    parameters: dict[str, list[list[str]]]
    """By name, for all functions and classes."""

    @classmethod
    def of(cls, modules: Iterable[Module]) -> "Names":
        errors = set(ERRORS)
        parameters: dict[str, list[list[str]]] = {}
        nodes = [node for module in modules for node in ast.walk(module.tree)]
        for _ in range(3):  # subclasses of errors, transitively
            errors |= {
                node.name
                for node in nodes
                if isinstance(node, ast.ClassDef) and {called(base) for base in node.bases} & errors
            }
        for node in nodes:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() if node.name != "__init__":
                    parameters.setdefault(node.name, []).append(taken(node))
                case ast.ClassDef():
                    parameters.setdefault(node.name, []).append(fields(node))
                case _:
                    pass
        return cls(frozenset(errors), parameters)


def called(node: ast.expr) -> str:
    """Return the last component of the called or base name."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def is_own(target: ast.expr) -> bool:
    """Return whether it is an attribute of `self`."""
    match target:
        case ast.Attribute(value=ast.Name(id="self")):
            return True
        case _:
            return False


def taken(function: Function) -> list[str]:
    """Return the parameter names of a function."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def fields(made: ast.ClassDef) -> list[str]:
    """Return the fields of a class in order."""
    for node in made.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            return taken(node)
    return [
        node.target.id
        for node in made.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]


@dataclass(frozen=True)
class Search:
    """Follows shown texts to their definitions."""

    names: Names

    def texts(self, module: Module) -> Iterator[Text]:
        """Yield the texts of a module."""
        for path, name in TABLES:
            if path == module.path:
                yield from self.follow(module.constants[name], Place(module))
        for path, name in RESULTS:
            if path == module.path:
                for source, function in Place(module).returned(name):
                    yield from self.follow(source, Place(module, function))
        yield from self._within(module.tree, Place(module))

    def _within(self, node: ast.AST, place: "Place") -> Iterator[Text]:
        if isinstance(node, Function):
            place = Place(place.module, node)
        if isinstance(node, ast.Call):
            for shown in self._shown(node):
                yield from self.follow(shown, place)
        if isinstance(node, ast.Assign) and any(
            is_own(target) and (place.module.path, called(target)) in ATTRIBUTES
            for target in node.targets
        ):
            yield from self.follow(node.value, place)
        for child in ast.iter_child_nodes(node):
            yield from self._within(child, place)

    def _shown(self, call: ast.Call) -> Iterator[ast.expr]:
        """Yield the arguments of a call that users read."""
        name = called(call.func)
        read = FIELDS | ({"text"} if name in TEXTS else set())
        read |= {"reason"} if name in REASONS else set()
        known = [["message"]] if name in self.names.errors else self.names.parameters.get(name, [])
        for names in known:
            yield from (arg for arg, field in zip(call.args, names, strict=False) if field in read)
        yield from (given.value for given in call.keywords if given.arg in read)

    def follow(self, node: ast.expr, place: "Place") -> list[Text]:
        """Return the possible texts of an expression; none if unknown."""
        if place.depth > DEEPEST:
            return []
        inside = place.deeper()
        match node:
            case ast.Constant(value=str(value)):
                return [unformatted(value, place.module)]
            case ast.JoinedStr(values=values):
                return joined([self._piece(value, inside) for value in values])
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return joined([self.follow(each, inside) or [(None,)] for each in (left, right)])
            case ast.Name() | ast.Call() | ast.Subscript():
                return self._elsewhere(node, inside)
            case _:
                return [text for each in choices(node) for text in self.follow(each, inside)]

    def _piece(self, node: ast.expr, place: "Place") -> list[Text]:
        match node:
            case ast.Constant(value=str(value)):
                return [(value,)]
            case ast.FormattedValue(value=value, format_spec=None, conversion=-1):
                texts = self.follow(value, place)
                are_words = all(text == ("",) or has_words(numbered(text)) for text in texts)
                return texts if texts and are_words and len(texts) <= DEEPEST else [(None,)]
            case _:
                return [(None,)]

    def _elsewhere(self, node: ast.expr, place: "Place") -> list[Text]:
        match node:
            case ast.Name(id=name):
                sources = place.assigned(name)
            case ast.Subscript(value=ast.Name(id=name)):
                sources = Place(place.module).assigned(name)
            case ast.Call(func=ast.Name(id=name)):
                sources = place.returned(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name)):
                sources = place.returned(name)
            case _:
                sources = []
        return [
            text
            for source, function in sources
            if source is not node
            for text in self.follow(source, Place(place.module, function, place.depth))
        ]


@dataclass(frozen=True)
class Place:
    """The scope of an expression."""

    module: Module
    function: Function | None = None
    depth: int = 0

    def deeper(self) -> "Place":
        return Place(self.module, self.function, self.depth + 1)

    def assigned(self, name: str) -> list[tuple[ast.expr, Function | None]]:
        """Return the possible values of a name."""
        here = [] if self.function is None else list(ast.walk(self.function))
        found = [
            (node.value, self.function)
            for node in here
            if isinstance(node, ast.Assign) and any(called(each) == name for each in node.targets)
        ]
        constant = self.module.constants.get(name)
        return found or ([] if constant is None else [(constant, None)])

    def returned(self, name: str) -> list[tuple[ast.expr, Function | None]]:
        """Return the results of the functions of this name."""
        return [
            (node.value, function)
            for function in self.module.functions.get(name, [])
            for node in ast.walk(function)
            if isinstance(node, ast.Return) and node.value is not None
        ]


def choices(node: ast.expr) -> list[ast.expr]:
    """Return the alternatives of an expression."""
    match node:
        case ast.IfExp(body=body, orelse=other):
            return [body, other]
        case ast.BoolOp(values=values) | ast.Dict(values=values):
            return values
        case ast.Tuple(elts=each) | ast.List(elts=each):
            return each
        case ast.Starred(value=value) | ast.Await(value=value):
            return [value]
        case _:
            return []


def joined(pieces: list[list[Text]]) -> list[Text]:
    """Return all combinations of alternatives."""
    texts = [sum(chosen, ()) for chosen in product(*pieces)]
    return texts if len(texts) <= MOST_CHOICES else []


def unformatted(value: str, module: Module) -> Text:
    """Return a text whose fields `str.format` fills; only those of providers have any."""
    if not module.path.startswith("providers/"):
        return (value,)
    parts = FORMATTED.split(value)
    pieces: list[Piece] = [parts[0]]
    for part in parts[1:]:
        pieces += [None, part]
    return tuple(pieces)
