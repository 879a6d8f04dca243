"""Bundles the modules that run in a kernel into one text.

Used by ``notebook.kernels.variables`` and ``notebook.execution.scratch_runner``; tests run the text
as well as the modules.
"""

from __future__ import annotations

import ast
import functools
import json
from importlib import resources

PACKAGE = "jupyter_ai_shoulders.notebook.snippets"
VARIABLE_MODULES = ("objects", "values", "missing", "tables", "namespace")
"""In the order of their dependencies."""


@functools.cache
def python_source(*parts: str) -> str:
    """Return modules for Python kernels as one text, without our own imports."""
    folder = resources.files(PACKAGE) / "python"
    modules = [ast.parse((folder / f"{name}.py").read_text("utf-8")) for name in parts]
    body = [node for module in modules for node in module.body if not _is_left_out(node)]
    return ast.unparse(ast.Module([_annotations(), *body], []))


def python_variables(level: str, names: tuple[str, ...]) -> str:
    """Return an expression that describes the variables of its namespace as JSON."""
    call = f"own['describe'](b.globals(), {level!r}, {list(names)!r})"
    return _expression(python_source(*VARIABLE_MODULES), call)


def python_history_guard() -> str:
    """Return an expression after which the next scratch run leaves ``_`` and ``Out`` unchanged."""
    return _expression(python_source("history"), "own['keep_history']()")


def _expression(source: str, call: str) -> str:
    """Return an expression that runs code, then a call; it uses one name and leaves none."""
    return (
        f"(lambda b: (lambda own: (b.exec(b.compile({source!r}, '<agent>', 'exec'), own), {call})"
        "[1])({'__builtins__': b, '__name__': '<agent>'}))(__import__('builtins'))"
    )


def r_code(level: str, names: tuple[str, ...], mime: str) -> str:
    """Return code that publishes a description of an R workspace's variables under ``mime``."""
    wanted = ", ".join(_r_text(name) for name in names)
    source = (resources.files(PACKAGE) / "variables.r").read_text("utf-8")
    return (
        f"base::local({{\nlevel <- {_r_text(level)}\nwanted <- base::c({wanted})\n"
        f"mime <- {_r_text(mime)}\n{source}}}, envir = base::new.env(parent = base::baseenv()))"
    )


def _r_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _annotations() -> ast.stmt:
    return ast.ImportFrom(module="__future__", names=[ast.alias("annotations")], level=0)


def _is_left_out(node: ast.stmt) -> bool:
    """Return whether to drop a statement: our imports, ``__future__`` or a docstring."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__" or (node.module or "").startswith(PACKAGE)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
