"""Makes the one text that a kernel is sent from the modules that run in it.

Used by ``notebook.variables``; tests run the text as well as the modules.
"""

from __future__ import annotations

import ast
import functools
import json
from importlib import resources

PACKAGE = "jupyter_ai_shoulders.notebook.snippets"
PYTHON_PARTS = ("objects", "values", "missing", "tables", "namespace")
"""In the order in which they use each other."""


@functools.cache
def python_source() -> str:
    """Return the look at a Python kernel's variables as one module without imports of ours."""
    folder = resources.files(PACKAGE) / "python"
    parts = [ast.parse((folder / f"{name}.py").read_text("utf-8")) for name in PYTHON_PARTS]
    body = [node for part in parts for node in part.body if not _is_left_out(node)]
    return ast.unparse(ast.Module([_annotations(), *body], []))


def python_expression(level: str, names: tuple[str, ...]) -> str:
    """Return an expression that describes the variables of where it is evaluated, as JSON.

    It leaves no name behind, and uses none but ``__import__``.
    """
    return (
        "(lambda b: (lambda own: (b.exec(b.compile("
        f"{python_source()!r}, '<variables>', 'exec'), own), "
        f"own['describe'](b.globals(), {level!r}, {list(names)!r}))[1])"
        "({'__builtins__': b, '__name__': '<variables>'}))(__import__('builtins'))"
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
    """Leave out our own imports, the one of ``__future__``, and bare texts that explain."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__" or (node.module or "").startswith(PACKAGE)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
