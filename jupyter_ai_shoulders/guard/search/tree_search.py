"""Searches the files of the workspace for text or a pattern with ripgrep.

Follows no links. Leaves out hidden, binary, ignored and generated files, notebooks and likely
secrets. ripgrep runs in the folder itself, opened beneath the root, so that swapping the folder for
a link has no effect. Without ripgrep, plain text is searched file by file. Blocks; callers choose
the thread. Used by ``tools.files.search_content``.
"""

from __future__ import annotations

import base64
import json
import subprocess
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO, Any

from jupyter_ai_shoulders.core.errors import InvalidRequest, ShouldersError
from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.search.directory_listing import list_entries
from jupyter_ai_shoulders.guard.search.file_tree import ENTRY_LIMIT
from jupyter_ai_shoulders.guard.search.generated_folders import ALWAYS, generated_folder_names
from jupyter_ai_shoulders.guard.search.gitignore import is_ignored, outer_rules
from jupyter_ai_shoulders.guard.search.globs import Glob
from jupyter_ai_shoulders.guard.search.ripgrep import (
    PATTERN_OPTIONS,
    TIMEOUT_S,
    find_ripgrep,
    has_ripgrep,
    invalid_pattern_error,
    matching_lines,
)

MATCH_LIMIT = 10_000
"""Maximum number of counted lines; a search that finds more is stopped."""
STOPPED = f"The search stopped after {MATCH_LIMIT} lines."
FILE_SIZE_LIMIT = 10 << 20
"""Larger files, in bytes, are not searched."""
DEPTH_LIMIT = 40
"""Folder levels searched without ripgrep."""
LINE_LENGTH_LIMIT = 400
"""Characters kept of a line."""
WORKSPACE = WorkspacePath("")
_NOTEBOOK = ".ipynb"


@dataclass(frozen=True, slots=True)
class MatchingLine:
    """A matching line; ``line`` counts from 1, ``path`` is workspace-relative."""

    path: str
    line: int
    text: str


@dataclass(slots=True)
class SearchResult:
    """Matching lines, sorted by path and line; ``stopped`` says why they are incomplete."""

    lines: list[MatchingLine] = field(default_factory=list[MatchingLine])
    stopped: str | None = None
    linked: int = 0
    """Number of files left out because they have hard links, perhaps outside the workspace."""


@dataclass(frozen=True, slots=True)
class TreeQuery:
    """A search: text or pattern, the folder, and a glob on the paths below it."""

    text: str
    is_regex: bool
    folder: WorkspacePath = WORKSPACE
    glob: Glob | None = None


def search_tree(workspace: Workspace, query: TreeQuery) -> SearchResult:
    """Return the lines of files below a folder that contain the text or match the pattern.

    Text is case-sensitive, patterns are not. Raises ``InvalidRequest`` (an invalid pattern, a
    timeout), ``NotFound``, and ``PolicyRefusal`` where ripgrep is needed and missing.
    """
    if not query.is_regex and not has_ripgrep():
        return _without_ripgrep(workspace, query)
    options = ["--json", f"--max-filesize={FILE_SIZE_LIMIT}", *_match_options(query)]
    options += ["--glob", f"!*{_NOTEBOOK}"]
    search = _Ripgrep(workspace, query, options)
    with search as output:
        result = _read_matches(output, _FileFilter(workspace, query))
        complaint = None if result.stopped else search.complaint()
    if complaint is not None:
        raise invalid_pattern_error(query.text, complaint)
    if search.late:
        result.stopped = f"The search was stopped after {TIMEOUT_S:.0f} s."
    _leave_out_linked(workspace, result)
    result.lines.sort(key=lambda line: (line.path, line.line))
    return result


def search_file(workspace: Workspace, path: WorkspacePath, query: TreeQuery) -> SearchResult:
    """Return the matching lines of one file, even if a tree search leaves it out.

    Raises like ``search_tree``, and ``InvalidRequest`` for a file that is binary, too large, or has
    hard links.
    """
    if workspace.stat(path).links > 1:
        raise InvalidRequest(
            f"{path} has several names (hard links) and is not searched.", hint="Use read_file."
        )
    content = workspace.head(path, FILE_SIZE_LIMIT + 1).content
    if len(content) > FILE_SIZE_LIMIT or b"\0" in content:
        kind = "binary" if b"\0" in content else f"larger than {FILE_SIZE_LIMIT >> 20} MiB"
        raise InvalidRequest(f"{path} is {kind} and is not searched.", hint="Read a part of it.")
    return search_text(path, content.decode("utf-8", "replace"), query)


def search_text(path: str, text: str, query: TreeQuery) -> SearchResult:
    """Return the matching lines of a file's text. Raises like ``search_tree``."""
    lines = text.split("\n")
    if query.is_regex:
        numbers = [number for number in matching_lines(query.text, text) if number < len(lines)]
    else:
        numbers = [number for number, line in enumerate(lines) if query.text in line]
    found = (MatchingLine(path, at + 1, _truncate_line(lines[at].rstrip("\r"))) for at in numbers)
    return SearchResult(
        list(islice(found, MATCH_LIMIT)), STOPPED if len(numbers) > MATCH_LIMIT else None
    )


def searchable_notebooks(
    workspace: Workspace, folder: WorkspacePath, glob: Glob | None
) -> list[str]:
    """Return the sorted notebooks below a folder that a search covers."""
    if not has_ripgrep():
        return [
            path
            for path in _files_without_ripgrep(workspace, folder, glob)
            if path.endswith(_NOTEBOOK)
        ]
    kind = ("--type-add", f"wanted:*{_NOTEBOOK}", "--type", "wanted")
    query = TreeQuery("", is_regex=False, folder=folder, glob=glob)
    return sorted(_list_files(workspace, query, kind))


def _list_files(workspace: Workspace, query: TreeQuery, options: Sequence[str]) -> Iterator[str]:
    """Return the files ripgrep would search with ``options``."""
    file_filter = _FileFilter(workspace, query)
    search = _Ripgrep(workspace, replace(query, glob=None), ["--files", "--null", *options])
    with search as output:
        *names, _cut = output.read().split(b"\0")
    found = (file_filter.path(name.decode("utf-8", "replace")) for name in names if name)
    return (path for path in found if path is not None)


class _FileFilter:
    """Maps files found by ripgrep to workspace paths, and leaves out excluded ones."""

    def __init__(self, workspace: Workspace, query: TreeQuery) -> None:
        self._workspace = workspace
        self._query = query
        above = outer_rules(workspace, query.folder)
        # A folder named in the query is searched even if outer rules ignore it.
        self._outer_rules = [rule for rule in above if not rule.decide(f"{query.folder}/")]
        self._generated: dict[str, frozenset[str]] = {}
        self._paths: dict[str, str | None] = {}

    def path(self, name: str) -> str | None:
        """Return the path of a file by its name from the folder; None when it is left out."""
        if name not in self._paths:
            self._paths[name] = self._path(name.removeprefix("./"))
        return self._paths[name]

    def _path(self, name: str) -> str | None:
        folder, glob = self._query.folder, self._query.glob
        path = f"{folder}/{name}" if folder else name
        if is_secret(path) or self._workspace.is_closed(path):
            return None
        if glob is not None and not glob.matches(name):
            return None
        if is_ignored(path, self._outer_rules) or self._is_generated(name):
            return None
        return path

    def _is_generated(self, name: str) -> bool:
        """Return whether a parent below the query's folder holds generated files."""
        parts = name.split("/")[:-1]
        start = self._query.folder
        for part in parts:
            if part in self._generated_in(start):
                return True
            start = f"{start}/{part}" if start else part
        return False

    def _generated_in(self, folder: str) -> frozenset[str]:
        if folder not in self._generated:
            try:
                names = self._workspace.names(WorkspacePath(folder))
            except ShouldersError:  # deleted since
                names = ()
            self._generated[folder] = generated_folder_names(names)
        return self._generated[folder]


def _match_options(query: TreeQuery) -> list[str]:
    if query.is_regex:
        return [*PATTERN_OPTIONS, "--ignore-case", "--regexp", query.text]
    return ["--fixed-strings", "--case-sensitive", "--regexp", query.text]


def _tree_options(glob: Glob | None) -> Iterator[str]:
    # ``.gitignore`` applies with and without a repository; rules above the workspace and of the
    # user do not. ``guard.search.directory_listing`` lists the same files.
    yield from ("--no-config", "--no-messages", "--no-require-git", "--no-ignore-parent")
    yield from ("--no-ignore-dot", "--no-ignore-global", "--no-ignore-exclude", "--no-follow")
    for name in sorted(ALWAYS):
        yield from ("--glob", f"!{name}/")
    for name in glob.names if glob is not None else ():
        yield from ("--type-add", f"wanted:{name}", "--type", "wanted")


class _Ripgrep:
    """A ripgrep process, stopped at its timeout or when the block ends."""

    def __init__(self, workspace: Workspace, query: TreeQuery, options: list[str]) -> None:
        command = [find_ripgrep(), *_tree_options(query.glob), *options, "--", "."]
        self.late = False
        try:
            with workspace.open_folder_path(query.folder) as folder_path:
                self._process = subprocess.Popen(  # noqa: S603 ripgrep and its arguments
                    command,
                    cwd=folder_path,
                    env={},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
        except ValueError as error:  # a NUL in the text
            raise InvalidRequest(f"{query.text!r} cannot be searched for: {error}.") from error
        self._timer = threading.Timer(TIMEOUT_S, self._stop)

    def __enter__(self) -> IO[bytes]:
        self._timer.start()
        assert self._process.stdout is not None
        return self._process.stdout

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._process:
            self._process.kill()

    def complaint(self) -> str | None:
        """Return ripgrep's complaint about the query, after all output was read."""
        assert self._process.stderr is not None
        message = self._process.stderr.read().decode("utf-8", "replace").strip()
        return message if self._process.wait() > 1 and message else None

    def _stop(self) -> None:
        self.late = True
        self._process.kill()


def _read_matches(output: IO[bytes], file_filter: _FileFilter) -> SearchResult:
    """Read the matches file by file; drops those of files that turn out to be binary."""
    result = SearchResult()
    files: dict[str, list[MatchingLine]] = {}
    count = 0
    for raw in output:
        message: dict[str, Any] = json.loads(raw)
        data: dict[str, Any] = message["data"]
        if message["type"] == "match":
            name = _text(data["path"])
            path = file_filter.path(name)
            if path is None:
                continue
            text = _truncate_line(_text(data["lines"]).rstrip("\r\n"))
            files.setdefault(name, []).append(MatchingLine(path, data["line_number"], text))
            count += 1
            if count >= MATCH_LIMIT:
                result.stopped = STOPPED
                break
        elif message["type"] == "end":
            lines = files.pop(_text(data["path"]), [])
            if data["binary_offset"] is None:
                result.lines += lines
    result.lines += [line for lines in files.values() for line in lines]
    return result


def _without_ripgrep(workspace: Workspace, query: TreeQuery) -> SearchResult:
    result = SearchResult()
    for path in _files_without_ripgrep(workspace, query.folder, query.glob):
        if path.endswith(_NOTEBOOK) or is_secret(path) or workspace.is_closed(path):
            continue
        for number, line in _matching_lines(workspace, path, query.text, FILE_SIZE_LIMIT):
            result.lines.append(MatchingLine(path, number, _truncate_line(line)))
            if len(result.lines) >= MATCH_LIMIT:
                result.stopped = STOPPED
                _leave_out_linked(workspace, result)
                return result
    _leave_out_linked(workspace, result)
    return result


def _files_without_ripgrep(workspace: Workspace, folder: str, glob: Glob | None) -> list[str]:
    """Return the sorted files below a folder that a search covers."""
    found = list_entries(workspace, folder, depth=DEPTH_LIMIT, limit=ENTRY_LIMIT, glob=glob)
    return [entry.path for entry in found.entries if entry.kind == "file"]


def _matching_lines(
    workspace: Workspace, path: str, text: str, limit: int
) -> Iterator[tuple[int, str]]:
    """Yield the lines, numbered from 1, that contain a text; none of a binary file."""
    try:
        content = workspace.head(WorkspacePath(path), limit + 1).content
    except ShouldersError:  # deleted or not readable
        return
    if len(content) > limit or b"\0" in content or text.encode("utf-8", "replace") not in content:
        return
    for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), start=1):
        if text in line:
            yield number, line.rstrip("\r")


def _leave_out_linked(workspace: Workspace, result: SearchResult) -> None:
    """Leave out lines of files with hard links, because reading those asks the user."""
    linked = {path for path in {line.path for line in result.lines} if _is_linked(workspace, path)}
    result.lines = [line for line in result.lines if line.path not in linked]
    result.linked = len(linked)


def _is_linked(workspace: Workspace, path: str) -> bool:
    try:
        return workspace.stat(WorkspacePath(path)).links > 1
    except ShouldersError:  # deleted since
        return False


def _truncate_line(line: str) -> str:
    return line if len(line) <= LINE_LENGTH_LIMIT else f"{line[:LINE_LENGTH_LIMIT]} …"


def _text(value: dict[str, str]) -> str:
    """Return a text of ripgrep's JSON, which encodes bytes that are not UTF-8 in base 64."""
    if "text" in value:
        return value["text"]
    return base64.b64decode(value["bytes"]).decode("utf-8", "replace")
