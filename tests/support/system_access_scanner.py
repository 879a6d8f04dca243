"""Finds code that opens files, connects or starts programs, by reading the source.

``find_system_access`` reads one module and returns every place where it could: imports of modules
that can, uses of functions that do, methods of paths, and ways to hide any of these. It errs on the
side of telling too much; ``tests/test_system_access.py`` names the modules that may, each with its
reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["files", "network", "processes", "hidden"]

_MODULES: dict[str, Kind] = {
    **dict.fromkeys(
        (
            *("shutil", "tempfile", "glob", "fileinput", "linecache", "mmap", "fcntl", "sqlite3"),
            *("dbm", "shelve", "tarfile", "zipfile", "zipimport", "io", "nt", "posix"),
            *("importlib.resources", "pkgutil", "runpy", "mailbox", "filecmp", "gzip", "bz2"),
            *("lzma", "logging.handlers", "keyring", "aiofiles"),
        ),
        "files",
    ),
    **dict.fromkeys(
        (
            *("socket", "socketserver", "ssl", "select", "selectors", "http.client", "http.server"),
            *("urllib.request", "urllib.robotparser", "ftplib", "smtplib", "poplib", "imaplib"),
            *("telnetlib", "nntplib", "xmlrpc", "httpx", "httpcore", "aiohttp", "requests"),
            *(
                "urllib3",
                "websocket",
                "websockets",
                "zmq",
                "anyio",
                "tornado.httpclient",
            ),
            *("tornado.netutil", "tornado.tcpclient", "webbrowser", "_socket"),
        ),
        "network",
    ),
    **dict.fromkeys(
        (
            *("subprocess", "multiprocessing", "pty", "ctypes", "_posixsubprocess", "signal"),
            *("concurrent.futures.process", "cffi", "sh", "pexpect", "psutil", "jupyter_client"),
        ),
        "processes",
    ),
}
"""Modules that only make sense for these; importing one is enough to be told of."""

_HARMLESS: dict[str, frozenset[str]] = {
    "io": frozenset({"BytesIO", "StringIO", "SEEK_SET", "SEEK_END"}),
    "zipfile": frozenset({"ZIP_DEFLATED", "ZipInfo", "BadZipFile"}),
    "os": frozenset(
        {
            *("environ", "getenv", "fspath", "fsencode", "fsdecode", "sep", "devnull", "name"),
            *("urandom", "cpu_count", "strerror", "PathLike", "linesep", "getpid", "stat_result"),
            *("path.join", "path.basename", "path.dirname", "path.normpath", "path.splitext"),
            *("path.isabs", "path.commonpath", "path.normcase", "path.sep", "path"),
        }
    ),
    "signal": frozenset({"SIGKILL", "SIGTERM", "SIGINT"}),
    "anyio": frozenset(
        {
            *("to_thread", "fail_after", "move_on_after", "create_task_group", "CancelScope"),
            *("create_memory_object_stream", "current_time"),
        }
    ),
}
"""Names of such modules that reach nothing; of ``os`` all others count."""

_LAZY = "jupyter_ai_shoulders.client.lazy_imports."
"""Modules imported from here are those of their name, imported on first use."""
_FUNCTIONS: dict[str, Kind] = {
    "LazyModule": "hidden",
    "asyncio.create_subprocess_exec": "processes",
    "asyncio.create_subprocess_shell": "processes",
    "asyncio.open_connection": "network",
    "asyncio.open_unix_connection": "network",
    "asyncio.start_server": "network",
    "asyncio.start_unix_server": "network",
    "importlib.import_module": "hidden",
    "importlib.util.spec_from_file_location": "hidden",
    "pathlib.Path.cwd": "files",
    "pathlib.Path.home": "files",
    "logging.FileHandler": "files",
    "codecs.open": "files",
}
_BUILTINS: dict[str, Kind] = {
    "open": "files",
    "eval": "hidden",
    "exec": "hidden",
    "compile": "hidden",
    "__import__": "hidden",
    "breakpoint": "hidden",
}
_PATH_METHODS = frozenset(
    {
        *("read_text", "read_bytes", "write_text", "write_bytes", "iterdir", "rglob", "lstat"),
        *("symlink_to", "hardlink_to", "touch", "is_file", "is_dir", "is_symlink", "is_mount"),
        *("readlink", "rmdir", "mkdir", "lchmod", "expanduser", "samefile", "is_socket"),
    }
)
"""Of paths only, whatever they are called on."""
_SHARED_METHODS = frozenset(
    {
        *("open", "stat", "exists", "rename", "replace", "unlink", "glob", "resolve", "chmod"),
        *("absolute", "owner", "group", "walk"),
    }
)
"""Of other things too: told where the receiver is known to be a path."""
_LOOP_METHODS: dict[str, Kind] = {
    "create_connection": "network",
    "create_datagram_endpoint": "network",
    "create_server": "network",
    "sock_connect": "network",
    "getaddrinfo": "network",
    "subprocess_exec": "processes",
    "subprocess_shell": "processes",
}


@dataclass(frozen=True, slots=True)
class SystemAccess:
    """A place where a module reaches out of itself."""

    kind: Kind
    what: str
    line: int


def find_system_access(source: str) -> list[SystemAccess]:
    """Return every place where a module opens, connects or starts something, in order."""
    tree = ast.parse(source)
    reader = _Reader(tree)
    found = {place for node in ast.walk(tree) for place in reader.places(node)}
    return sorted(found, key=lambda place: (place.line, place.what))


class _Reader:
    def __init__(self, tree: ast.Module) -> None:
        self._names = dict(_imported(tree))
        self._typing_only = _type_checking_lines(tree)
        self._paths = set(_path_names(tree))
        self._own = {
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }

    def places(self, node: ast.AST) -> Iterator[SystemAccess]:
        if isinstance(node, ast.Import | ast.ImportFrom):
            if node.lineno not in self._typing_only:
                yield from self._import(node)
        elif isinstance(node, ast.Attribute):
            yield from self._attribute(node)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            kind = _BUILTINS.get(node.id)
            if kind is not None and node.id not in self._names and node.id not in self._own:
                yield SystemAccess(kind, node.id, node.lineno)
        elif isinstance(node, ast.Call):
            yield from self._looked_up(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> Iterator[SystemAccess]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                kind = _module_kind(alias.name)
                if kind is not None and alias.name not in _HARMLESS:
                    yield SystemAccess(kind, f"import {alias.name}", node.lineno)
            return
        module = node.module or ""
        for alias in node.names:
            dotted = f"{module}.{alias.name}".removeprefix(_LAZY)
            kind = _dotted_kind(dotted)
            if kind is not None:
                yield SystemAccess(kind, f"import {dotted}", node.lineno)

    def _attribute(self, node: ast.Attribute) -> Iterator[SystemAccess]:
        dotted = self._dotted(node)
        if dotted is not None:
            kind = _dotted_kind(dotted)
            if kind is not None:
                yield SystemAccess(kind, dotted, node.lineno)
                return
        if node.attr in _PATH_METHODS or (
            node.attr in _SHARED_METHODS and self._is_path(node.value)
        ):
            yield SystemAccess("files", f"….{node.attr}", node.lineno)
        elif node.attr in _LOOP_METHODS:
            yield SystemAccess(_LOOP_METHODS[node.attr], f"….{node.attr}", node.lineno)

    def _looked_up(self, node: ast.Call) -> Iterator[SystemAccess]:
        """Tell of a function that is looked up by its name in a module that can reach out."""
        if isinstance(node.func, ast.Name) and node.func.id in {"getattr", "vars"} and node.args:
            dotted = self._dotted(node.args[0])
            literal = len(node.args) > 1 and isinstance(node.args[1], ast.Constant)
            if dotted is None:
                return
            name = str(ast.literal_eval(node.args[1])) if literal else ""
            constant = literal and name.isupper()
            if (dotted in _MODULES or dotted == "os") and not constant:
                yield SystemAccess("hidden", f"{node.func.id}({dotted}, …)", node.lineno)

    def _dotted(self, node: ast.expr) -> str | None:
        """Return the full name of an expression that begins with something imported."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id)
        if isinstance(node, ast.Attribute):
            above = self._dotted(node.value)
            return None if above is None else f"{above}.{node.attr}"
        return None

    def _is_path(self, node: ast.expr) -> bool:
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, ast.Div) and (
                self._is_path(node.left) or isinstance(node.right, ast.Constant | ast.JoinedStr)
            )
        if isinstance(node, ast.Call):
            called = self._dotted(node.func)
            return called is not None and called.startswith("pathlib.")
        if isinstance(node, ast.Name):
            return node.id in self._paths
        return isinstance(node, ast.Attribute) and (
            node.attr in self._paths | {"parent", "directory"}
        )


def _module_kind(name: str) -> Kind | None:
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        kind = _MODULES.get(".".join(parts[:count]))
        if kind is not None:
            return kind
    return None


def _dotted_kind(dotted: str) -> Kind | None:
    """Return what a full name reaches, None when it is harmless."""
    if dotted in _FUNCTIONS:
        return _FUNCTIONS[dotted]
    top, _, rest = dotted.partition(".")
    harmless = _HARMLESS.get(top)
    if harmless is not None and (
        not rest or rest in harmless or rest.split(".")[0] in harmless - {"path"}
    ):
        return None
    if top == "os":
        return None if rest.isupper() else _os_kind(rest)
    return _module_kind(dotted)


def _os_kind(name: str) -> Kind:
    starts = ("spawn", "exec", "fork", "kill", "system", "popen", "posix_spawn", "startfile")
    return "processes" if name.startswith(starts) else "files"


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                yield (alias.asname or top), (alias.name if alias.asname else top)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                dotted = f"{node.module}.{alias.name}".removeprefix(_LAZY)
                yield (alias.asname or alias.name), dotted


def _type_checking_lines(tree: ast.Module) -> set[int]:
    """Return the lines of imports for types only: they import nothing when the program runs."""
    return {
        inner.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for part in node.body
        for inner in ast.walk(part)
        if isinstance(inner, ast.stmt)
    }


def _path_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names of variables, attributes and arguments that hold paths of the system."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation is not None:
            if _says_path(node.annotation):
                yield node.arg
        elif isinstance(node, ast.AnnAssign) and _says_path(node.annotation):
            yield _last(node.target)
        elif isinstance(node, ast.Assign) and _makes_path(node.value):
            yield from map(_last, node.targets)


def _says_path(annotation: ast.expr) -> bool:
    return "Path" in {part.id for part in ast.walk(annotation) if isinstance(part, ast.Name)}


def _makes_path(value: ast.expr) -> bool:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
        return isinstance(value.right, ast.Constant | ast.JoinedStr | ast.Name | ast.Attribute)
    return isinstance(value, ast.Call) and ast.unparse(value.func).startswith("Path")


def _last(target: ast.expr) -> str:
    return ast.unparse(target).rpartition(".")[2]
