"""Effects of Python code found in its syntax tree: a hint for approvals, never a gate.

Pure; used by ``tools.code_analysis.effects``. A name counts wherever it is mentioned, called or
not, with every object it may refer to: renaming, assigning or shadowing hides nothing. Code the
tree does not show is reported as unknown.
"""

from __future__ import annotations

import ast
import builtins
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from jupyter_ai_shoulders.tools.code_analysis.effect_table import effect_index
from jupyter_ai_shoulders.tools.code_analysis.python_loops import is_long_loop, literal_number
from jupyter_ai_shoulders.tools.code_analysis.python_names import (
    ADDRESS,
    NameBindings,
    dotted_parts,
    literal_text,
)
from jupyter_ai_shoulders.wire.events import EffectKind

CommandAnalyzer = Callable[[str], Iterable[EffectKind]]

_ALWAYS_MODULES = frozenset({"builtins", "importlib", "os", "shutil", "subprocess", "sys"})
"""Passed as a value, they may be used in ways the tree does not show."""
_REACHED_MODULES = _ALWAYS_MODULES | {
    *("ctypes", "marshal", "pathlib", "pickle", "posix", "pty", "requests", "runpy", "socket"),
}
"""Modules reachable through modules that import them."""
_COMMON_WORDS = frozenset({"azure", "code", "commands", "google", "imp", "invoke", "pip", "sh"})
"""Modules whose names are also common variable names."""
_PLAIN_DUNDERS = frozenset(
    f"__{name}__"
    for name in (
        *("all", "annotations", "author", "class", "doc", "enter", "eq", "exit", "file", "hash"),
        *("init", "iter", "len", "main", "module", "name", "new", "post_init", "qualname", "repr"),
        *("slots", "str", "version", "future", "call", "getitem", "setitem", "contains", "add"),
    )
)
_DUNDER = re.compile(r"__\w+__")
_PRESENT = frozenset({*dir(builtins), "display", "get_ipython", "In", "Out", "exit", "quit"})
"""Names available without an import."""
_WRITING = re.compile(r"[wax+]")
_MODE = re.compile(r"[rwaxbtU+|:*gzx2]{1,6}")
_SCRIPT = re.compile(r"<script|javascript:|\bon\w+\s*=", re.IGNORECASE)
_CALLED_IN_QUERY = re.compile(r"@\s*\w+\s*[.(]|__")
_MAX_NAME_PARTS = 6
"""The longest names in the table, with some reserve."""
_LONG_SLEEP_S = 60


def python_effects(
    trees: Sequence[ast.Module], analyze_command: CommandAnalyzer
) -> set[EffectKind]:
    """Return the effects of cells that run in order; ``analyze_command`` analyses command lines."""
    names = NameBindings()
    for tree in trees:
        for node in ast.walk(tree):
            names.record(node)
    seen = _EffectCollector(names, analyze_command)
    for tree in trees:
        seen.collect(tree)
    if names.has_more:
        seen.found.add("unknown")
    return seen.found


@dataclass(slots=True)
class _EffectCollector:
    """Collects effects, node by node."""

    names: NameBindings
    command: CommandAnalyzer
    found: set[EffectKind] = field(default_factory=set[EffectKind])
    _called: set[int] = field(default_factory=set[int])
    """Names that are called, whose arguments are analysed too."""
    _bases: set[int] = field(default_factory=set[int])
    """Names of which an attribute is read."""
    _effects: dict[tuple[str, ...], EffectKind | None] = field(
        default_factory=dict[tuple[str, ...], EffectKind | None]
    )

    def collect(self, tree: ast.Module) -> None:
        """Analyse a whole tree."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                self._called.add(id(node.func))
            if isinstance(node, ast.Attribute):
                self._bases.add(id(node.value))
        for node in ast.walk(tree):
            self._node(node)

    def _node(self, node: ast.AST) -> None:
        match node:
            case ast.Call():
                self._call(node)
            case ast.Name() | ast.Attribute():
                self._mention(node)
            case ast.Import() | ast.ImportFrom():
                self._imports(node)
            case ast.Constant(value=str() as text):
                if _DUNDER.fullmatch(text) and text not in _PLAIN_DUNDERS:
                    self.found.add("dynamic_code")
            case ast.While() | ast.For() | ast.AsyncFor():
                if is_long_loop(node):
                    self.found.add("long_loop")
            case _:
                pass

    def _mention(self, node: ast.Name | ast.Attribute) -> None:
        last = node.id if isinstance(node, ast.Name) else node.attr
        if _DUNDER.fullmatch(last) and last not in _PLAIN_DUNDERS:
            self.found.add("dynamic_code")
        parts = dotted_parts(node)
        effect = self._effect_of(parts) if parts else None
        if effect is not None:
            self.found.add(effect)
        elif self._is_opener(parts) and id(node) not in self._called:
            self.found.add("writes_files")
        elif isinstance(node, ast.Attribute):
            self._method(node)
        if id(node) not in self._bases and isinstance(node.ctx, ast.Load):
            self._value(node, parts)

    def _effect_of(self, parts: Sequence[str]) -> EffectKind | None:
        key = tuple(parts)
        if key not in self._effects:
            self._effects[key] = self._first_effect(key)
        return self._effects[key]

    def _first_effect(self, parts: tuple[str, ...]) -> EffectKind | None:
        known = effect_index()
        for full in self.names.candidates(parts):
            whole = ".".join(full)
            if len(full) == 1 and f"builtins.{whole}" in known.names:
                return known.names[f"builtins.{whole}"]
            for start in range(len(full) - 1):
                if not self._may_be_module(full[start], parts[0] if start == 0 else None):
                    continue
                for end in range(start + 1, min(len(full), start + _MAX_NAME_PARTS) + 1):
                    piece = ".".join(full[start:end])
                    found = known.names.get(piece)
                    if found is None and (end < len(full) or "." in piece):
                        found = known.modules.get(piece)
                    if found is not None:
                        return found
        return None

    def _may_be_module(self, name: str, root: str | None) -> bool:
        """Return whether a name may be a module: at the root of a dotted name, or after one."""
        if root is None:
            return name in _REACHED_MODULES
        is_variable = root in self.names.bound and root not in self.names.imported
        return name not in _COMMON_WORDS or not is_variable

    def _method(self, node: ast.Attribute) -> None:
        effect = effect_index().methods.get(node.attr)
        if effect is not None:
            self.found.add(effect)

    def _value(self, node: ast.Name | ast.Attribute, parts: Sequence[str]) -> None:
        """Record a module used as a value, since the tree does not show how it is used."""
        known = effect_index()
        for full in self.names.candidates(parts) if parts else ():
            last = full[-1]
            whole = ".".join(full)
            if whole in known.modules and (len(parts) == 1 or whole == ".".join(parts)):
                is_free = parts[0] in self.names.imported or parts[0] not in self.names.bound
                if is_free and id(node) not in self._called:
                    self.found.add(known.modules[whole])
            elif last in _ALWAYS_MODULES or (
                whole in known.holders
                and parts[0] in self.names.imported
                and whole not in {"pathlib.Path", "pandas", "numpy"}
            ):
                self.found.add("unknown")

    def _is_opener(self, parts: Sequence[str]) -> bool:
        return self._mode_position(parts) is not None

    def _mode_position(self, parts: Sequence[str]) -> int | None:
        openers = effect_index().openers
        for full in self.names.candidates(parts) if parts else ():
            spellings = (".".join(full[start:]) for start in range(len(full)))
            if len(full) == 1:
                spellings = iter((f"builtins.{full[0]}",))
            found = next((openers[each] for each in spellings if each in openers), None)
            if found is not None:
                return found
        return None

    def _imports(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            module = alias.name if isinstance(node, ast.Import) else node.module or ""
            if isinstance(node, ast.ImportFrom):
                self._import_from(node, module, alias)
            else:
                self._import_module(module, alias.asname)

    def _import_module(self, module: str, asname: str | None) -> None:
        known = effect_index()
        if module.partition(".")[0] not in known.known:
            self.found.add("outside_code")
        if asname in {None, _last(module)} or known.aliases.get(asname or "") == module:
            return
        if module in known.modules:
            self.found.add(known.modules[module])
        elif module in known.holders:
            self.found.add("unknown")

    def _import_from(self, node: ast.ImportFrom, module: str, alias: ast.alias) -> None:
        known = effect_index()
        if node.level or module.partition(".")[0] not in known.known:
            self.found.add("outside_code")
            return
        if alias.name == "*":
            if module in known.holders or module in known.modules:
                self.found.add(known.modules.get(module, "unknown"))
            return
        effect = self._effect_of([*module.split("."), alias.name])
        if effect is not None:
            self.found.add(effect)
        renamed = alias.asname not in {None, alias.name}
        if renamed and (alias.name in _ALWAYS_MODULES or f"{module}.{alias.name}" in known.holders):
            self.found.add("unknown")

    def _call(self, node: ast.Call) -> None:
        parts = dotted_parts(node.func)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else (parts or ("",))[-1]
        position = self._mode_position(parts)
        if position is not None:
            self._opens(node, position)
        elif name == "open" and isinstance(node.func, ast.Attribute):
            self._opens_something(node, parts)
        if parts == ("getattr",) or parts[-2:] == ("builtins", "getattr"):
            self._getattr(node)
        elif parts in {("setattr",), ("delattr",)} and not _is_text(_argument(node, 1)):
            self.found.add("dynamic_code")
        if isinstance(node.func, ast.Attribute):
            self._method_call(node, node.func.attr)
        elif isinstance(node.func, ast.Name):
            self._plain_call(node.func.id)
        self._runs(node, parts, name)
        self._reads(node, name)
        if name == "sleep" and literal_number(_argument(node, 0)) >= _LONG_SLEEP_S:
            self.found.add("long_loop")
        if name == "HTML" and self._has_script(node):
            self.found.add("dynamic_code")

    def _plain_call(self, name: str) -> None:
        known = effect_index()
        if name not in self.names.bound | _PRESENT and name not in known.aliases:
            self.found.add("outside_code")

    def _opens(self, node: ast.Call, position: int) -> None:
        mode = next((word.value for word in node.keywords if word.arg == "mode"), None)
        spread = any(word.arg is None for word in node.keywords) or any(
            isinstance(each, ast.Starred) for each in node.args
        )
        mode = mode or _argument(node, position)
        if spread or (mode is not None and not (_is_text(mode) and not _writes(mode))):
            self.found.add("writes_files")

    def _opens_something(self, node: ast.Call, parts: Sequence[str]) -> None:
        """Record a call of an ``open`` method whose mode writes or is unknown."""
        if parts and self._is_library(parts):
            return
        modes = [*node.args[:2], *(word.value for word in node.keywords if word.arg == "mode")]
        for mode in modes:
            text = literal_text(mode, self.names, 0)
            if text is None or (_MODE.fullmatch(text) and _WRITING.search(text)):
                self.found.add("writes_files")

    def _is_library(self, parts: Sequence[str]) -> bool:
        known = effect_index()
        return parts[0] in known.aliases or parts[0] in self.names.imported

    def _getattr(self, node: ast.Call) -> None:
        base, name = _argument(node, 0), _argument(node, 1)
        if base is None or not isinstance(name, ast.Constant) or not isinstance(name.value, str):
            self.found.add("dynamic_code")
            return
        self._mention(ast.Attribute(value=base, attr=name.value, ctx=ast.Load()))

    def _method_call(self, node: ast.Call, name: str) -> None:
        known = effect_index()
        if name in known.methods_with_arguments and (node.args or node.keywords):
            self.found.add(known.methods_with_arguments[name])
        elif name in {"rename", "replace"} and _is_of_path(node):
            self.found.add("writes_files")
        elif name in {"eval", "query"} and (node.args or node.keywords):
            text = literal_text(_argument(node, 0), self.names, 0)
            if text is None or _CALLED_IN_QUERY.search(text):
                self.found.add("dynamic_code")
        elif name == "load" and any(word.arg == "allow_pickle" for word in node.keywords):
            self.found.add("dynamic_code")

    def _runs(self, node: ast.Call, parts: Sequence[str], name: str) -> None:
        """Record the effects of a program that a call starts, if its command is literal."""
        starts = self._effect_of(parts) == "shell" if parts else False
        if not starts and effect_index().methods.get(name) != "shell":
            return
        line = _command_line(_argument(node, 0))
        if line is None:
            self.found.add("unknown")
        else:
            self.found |= set(self.command(line))

    def _reads(self, node: ast.Call, name: str) -> None:
        if name not in effect_index().readers:
            return
        given = [*node.args[:1], *(word.value for word in node.keywords[:2])]
        texts = [literal_text(each, self.names, 0) for each in given]
        if any(text is not None and ADDRESS.match(text.strip()) for text in texts):
            self.found.add("network")
        elif texts[:1] == [None]:
            self.found.add("outside_code")

    def _has_script(self, node: ast.Call) -> bool:
        given = _argument(node, 0)
        if isinstance(given, ast.Call) and dotted_parts(given.func)[-1:] == ("to_html",):
            return False
        text = literal_text(given, self.names, 0)
        return given is not None and (text is None or _SCRIPT.search(text) is not None)


def _last(module: str) -> str:
    return module.rpartition(".")[2]


def _argument(node: ast.Call, position: int) -> ast.expr | None:
    return node.args[position] if position < len(node.args) else None


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _writes(mode: ast.expr) -> bool:
    return isinstance(mode, ast.Constant) and bool(_WRITING.search(str(mode.value)))


def _is_of_path(node: ast.Call) -> bool:
    """Return whether the arguments of ``rename`` or ``replace`` fit a path, not a table or text."""
    if any(isinstance(each, ast.Starred) for each in node.args):
        return True
    if any(word.arg in {None, "target"} for word in node.keywords):
        return True
    return len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Dict)


def _command_line(node: ast.expr | None) -> str | None:
    """Return a command given as a literal text or list of texts."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.List | ast.Tuple) or not node.elts:
        return None
    words: list[str] = []
    for position, each in enumerate(node.elts):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            words.append(shlex.quote(each.value))
        elif dotted_parts(each)[-2:] == ("sys", "executable"):
            words.append("python")
        elif position == 0:
            return None
        else:
            words.append('"$X"')
    return " ".join(words)
