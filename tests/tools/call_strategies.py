"""Calls nobody foresaw, made from the schemas of the tools, and the workspace they work on."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, cast

import nbformat
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.notebook.base import KernelHandle, KernelSpec
from jupyter_ai_shoulders.testing.scripted_provider import Call
from jupyter_ai_shoulders.wire.api.responses import ToolInfo
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.versions import file_version
from tests.files.previews.sample_documents import word, workbook
from tests.host.test_build import NoKernels
from tests.tools.file_conversation import notebook

SECRET = b"KEY=not-for-models\n"
OUTSIDE = b"outside the workspace\n"
FILES: Mapping[str, bytes] = {
    "a.txt": b"one\ntwo\nthree\n",
    "notes.md": b"# Title\n\nSome text.\n",
    "win.txt": b"one\r\ntwo\r\n",
    "latin.txt": "größe\n".encode("cp1252"),
    "src/deep/x.py": b"import os\nprint(1)\n",
    "table.csv": b"id,city\n" + b"".join(b"%d,Rome\n" % number for number in range(200)),
    "data.bin": bytes(range(256)) * 8,
    "book.xlsx": workbook({"data": [["a", "b"], [1, 2]]}),
    "report.docx": word(),
    "n.ipynb": notebook("a = 1", "b = 2"),
    "broken.ipynb": b"{ not a notebook",
    ".env": SECRET,
    "AGENTS.md": b"Be kind.\n",
}
KNOWN = frozenset({*FILES.values(), b"hi\n"})
"""What files have before, and what the commands below write."""

_PATHS = (
    *FILES,
    *("new.txt", "new/deep/er.md", "new.ipynb", "new.xlsx", "src", "src/deep", ".", "", "none.txt"),
    *("../outside.txt", "/etc/passwd", "link.txt", "loop", "~/x", "$HOME/x", "a\0b", "a\ud800b"),
    *(
        "a.txt/x",
        "./src/../a.txt",
        "A.TXT",
        "x" * 300,
        "con",
        "ü\u202e.txt",
        ".shoulders/tools.json",
    ),
    *(".git/config", ".git/hooks/post-commit", "//host/share", "C:\\x", "src//deep/", "🙂.txt"),
)
_CELLS = ("cell-1", "cell-2", "cell-9", "", "\0")
_TEXTS = (
    *("one", "two", "o", "\n", "", " ", "one\r\ntwo", "größe", "x\ud800y", "\0", "[redacted]"),
    *("a = 1", "import os", "🙂" * 50, "x" * 5_000, "line\n" * 3_000, "\u202e", "大きさ"),
)
_QUERIES = ("one", "a", "(a+)+$", "[", "\\", "(?<=x)y", ".*", "x" * 2_000, "\0", "")
_COMMANDS = (
    *("true", "false", "echo hi", "echo hi > made.txt", "mv a.txt moved.txt && rm notes.md"),
    *("rm none.txt", "cp a.txt src/copy.txt", "mkdir one && mv none one", "cat a.txt | head -1"),
    *("'", "echo $(", "exit 3", "\0", "mv a.txt ../away.txt", "rm -rf src", "mv src src/deep"),
)
_TEXT_FILES = ("a.txt", "notes.md", "win.txt", "latin.txt", "src/deep/x.py")
_PATHS_OF: Mapping[str, Sequence[str]] = {"notebook": ("n.ipynb",)}
_LIKELY: Mapping[str, Sequence[str]] = {
    "new_path": ("new.txt", "new/deep/er.md", "src", "src/other.py"),
    "cell_id": ("cell-1", "cell-2"),
    "old_string": ("one", "two", "Title", "import", "größe", "a = 1"),
    "find": ("Title", "Some text"),
    "query": ("one", "a"),
    "handle": ("0" * 16,),
    "category": ("git", "feedback"),
}
"""What the calls that work are made of."""
_BY_NAME: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("path", "new_path"), _PATHS),
    **dict.fromkeys(("cell_id", "after", "before", "from", "to"), _CELLS),
    **dict.fromkeys(("query", "glob"), _QUERIES),
    "command": _COMMANDS,
    "url": ("http://127.0.0.1:1/", "file:///etc/passwd"),
}

_odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
    max_leaves=4,
)
_unknown = cast("st.SearchStrategy[Json]", _odd)


def calls(tools: Sequence[ToolInfo]) -> st.SearchStrategy[list[Call]]:
    """Return one call of every tool, in any order."""
    made = [_call(tool) for tool in tools]
    return st.permutations(made).flatmap(lambda some: st.tuples(*some).map(list))


def _call(tool: ToolInfo) -> st.SearchStrategy[Call]:
    root: JsonObject = {**tool.parameters, "paths": [*_PATHS_OF.get(tool.category, _TEXT_FILES)]}
    valid = cast("st.SearchStrategy[JsonObject]", _values(root, "", root))
    nearly = st.tuples(valid, st.integers(0, 7), _unknown).map(lambda it: _nearly(*it))
    raw = st.sampled_from(["", "{", "null", "[]", '{"path": }', "\ud800"])
    arguments = st.integers(0, 9).flatmap(lambda n: raw if n == 9 else nearly if n > 6 else valid)
    return arguments.map(lambda made: Call(tool.name, made))


def _nearly(arguments: JsonObject, where: int, odd: Json) -> JsonObject:
    """Return arguments with one of them missing, of another type, or one too many."""
    names = sorted(arguments)
    if not names or where == 7:
        return {**arguments, "nonsense": odd}
    name = names[where % len(names)]
    if where % 2:
        return {key: value for key, value in arguments.items() if key != name}
    return {**arguments, name: odd}


def _values(schema: JsonObject, name: str, root: JsonObject) -> st.SearchStrategy[Any]:
    """Return values of a JSON Schema as pydantic writes them."""
    given: Any = schema
    if "$ref" in given:
        return _values(cast("Any", root)["$defs"][given["$ref"].rpartition("/")[2]], name, root)
    for several in ("anyOf", "oneOf"):
        if several in given:
            return st.one_of(*(_values(one, name, root) for one in given[several]))
    if "enum" in given:
        return st.sampled_from(given["enum"])
    if "const" in given:
        return st.just(given["const"])
    return _typed(given, name, root)


def _typed(given: Any, name: str, root: JsonObject) -> st.SearchStrategy[Any]:
    made: dict[str, Callable[[], st.SearchStrategy[Any]]] = {
        "string": lambda: _strings(name, root),
        "integer": lambda: st.integers(given.get("minimum", -3), given.get("maximum", 5_000)),
        "number": lambda: st.sampled_from([0.5, 1, 2, -1]),
        "boolean": st.booleans,
        "null": st.none,
        "array": lambda: st.lists(_values(given.get("items", {}), name, root), max_size=3),
        "object": lambda: _object(given, root),
    }
    return made.get(given.get("type"), lambda: _unknown)()


def _strings(name: str, root: JsonObject) -> st.SearchStrategy[str]:
    """Return strings for an argument: mostly what may work, else anything."""
    odd = st.sampled_from(_BY_NAME.get(name, _TEXTS)) | st.text(max_size=20)
    likely = cast("Any", root)["paths"] if name == "path" else _LIKELY.get(name)
    if likely is None:
        return odd
    good = st.sampled_from(likely)
    return st.one_of(good, good, good, odd)


def _object(given: Any, root: JsonObject) -> st.SearchStrategy[Any]:
    properties: dict[str, Any] = given.get("properties", {})
    required = set(given.get("required", ()))
    values = {name: _values(schema, name, root) for name, schema in properties.items()}
    return st.fixed_dictionaries(
        {name: value for name, value in values.items() if name in required},
        optional={name: value for name, value in values.items() if name not in required},
    )


class FuzzWorkspace:
    """The workspace that the calls are let loose on; the same again for every example."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "workspace"
        self.root.mkdir()
        self._outside = folder / "outside.txt"
        git = shutil.which("git")
        if git is not None:
            subprocess.run([git, "init", "-q", str(self.root)], check=True)

    def reset(self) -> None:
        """Put everything as it was."""
        self._outside.write_bytes(OUTSIDE)
        for entry in self.root.iterdir():
            if entry.name in {".git", ".shoulders"}:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        for name, content in FILES.items():
            file = self.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        (self.root / "link.txt").symlink_to(self._outside)
        (self.root / "loop").symlink_to("loop")

    def files(self) -> dict[str, bytes]:
        """Return every file of the workspace, as it is now."""
        return {
            str(file.relative_to(self.root)): file.read_bytes()
            for file in self.root.rglob("*")
            if file.is_file() and not {".git", ".shoulders"} & {*file.parts}
        }

    def check(self, written: Collection[str]) -> None:
        """Every file is as it was or as it was meant to be; nothing else is left behind."""
        assert self._outside.read_bytes() == OUTSIDE
        assert sorted(self.root.parent.glob("*.txt")) == [self._outside]
        for file in self.root.rglob("*"):
            parts = file.relative_to(self.root).parts
            if parts[0] in {".git", ".shoulders"} or file.is_symlink() or not file.is_file():
                continue
            assert not file.name.startswith(".~"), f"{file.name} was left behind"
            content = file.read_bytes()
            if content in KNOWN or file_version(content) in written:
                continue
            assert file.suffix == ".ipynb", f"{file} is neither old nor new"
            nbformat.validate(nbformat.reads(content.decode(), as_version=4))
        assert (self.root / ".env").read_bytes() == SECRET


class NoKernelsHere(NoKernels):
    """Kernels that are not installed: said as the real directory says it."""

    async def start(self, path: str, kernel_name: str | None) -> KernelHandle:
        raise NotFound("There is no kernel here.", code="no_kernel")

    async def spec(self, name: str | None) -> KernelSpec:
        if name is None:
            return KernelSpec("python3", "Python 3", "python")
        raise NotFound("There is no kernel here.", code="no_kernel")

    async def interrupt(self, kernel_id: str) -> None:
        raise NotFound("There is no kernel here.", code="no_kernel")

    async def restart(self, kernel_id: str) -> None:
        raise NotFound("There is no kernel here.", code="no_kernel")

    def throwaway(
        self, path: str, kernel_name: str | None
    ) -> AbstractAsyncContextManager[KernelHandle]:
        raise NotFound("There is no kernel here.", code="no_kernel")
