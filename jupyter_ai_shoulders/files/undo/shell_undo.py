"""Shell commands that the operation log can undo.

``tools.commands.run_command`` calls ``look`` before a line runs to predict its effect, ``begin`` to
keep the files it would lose and record the changes, and ``end`` with its outcome. All changes of a
line enter the log together, when it exits with 0; a line that cannot be undone gets a row that says
why.
"""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError
from jupyter_ai_shoulders.files.base import (
    ChangeOrigin,
    ChangeOutcome,
    LoggedChange,
    OperationJournal,
)
from jupyter_ai_shoulders.files.crash_recovery import CrashRecovery
from jupyter_ai_shoulders.files.path_permissions import permitted_path
from jupyter_ai_shoulders.files.trash import Trash
from jupyter_ai_shoulders.files.undo.shell_commands import (
    ShellCommand,
    UnsupportedCommand,
    parse_shell_line,
)
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.wire.ids import BlobHash, OperationId, Version

MAX_CHANGES = 200
_LARGEST = 256 << 20
"""Largest file, in bytes, that is kept; copying more would delay the command."""
_SHOWN = 200

Kind = Literal["file", "folder"]


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """One change that a command will make; ``source`` has the bytes now."""

    kind: Literal["delete", "move", "copy", "mkdir"]
    path: WorkspacePath
    new_path: WorkspacePath | None = None
    source: WorkspacePath | None = None


@dataclass(frozen=True, slots=True)
class UndoableLine:
    """A line whose changes can be undone; no changes when it only reads."""

    changes: tuple[PlannedChange, ...] = ()


@dataclass(frozen=True, slots=True)
class RunningLine:
    """The rows of a running line; ``reason`` why none of it can be undone."""

    line: str
    origin: ChangeOrigin
    rows: tuple[OperationId, ...] = ()
    reason: str | None = None


class _NotUndoable(Exception):
    """Why a line is not covered."""


class ShellUndo:
    """Keeps the files that simple commands would lose."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        trash: Trash,
        journal: OperationJournal,
        recovery: CrashRecovery,
        ids: IdSource,
    ) -> None:
        self._workspace = workspace
        self._trash = trash
        self._journal = journal
        self._recovery = recovery
        self._ids = ids

    async def inspect(self, line: str) -> UndoableLine | UnsupportedCommand:
        """Return the predicted effect of a line on the current files."""
        return await asyncio.to_thread(self._look, line)

    async def begin(self, line: str, origin: ChangeOrigin) -> RunningLine:
        """Keep and record the changes of a line before it runs. Raises ``StateUnavailable``."""
        found = await self.inspect(line)
        origin = replace(origin, batch=self._ids.new("batch"))
        if isinstance(found, UnsupportedCommand):
            return RunningLine(line, origin, reason=found.reason)
        begun = RunningLine(line, origin)
        try:
            for planned in found.changes:
                change = await asyncio.to_thread(self._change, planned, origin)
                operation = self._journal.begin(change)
                begun = replace(begun, rows=(*begun.rows, operation))
                if planned.kind == "delete":
                    source = planned.source or planned.path
                    await asyncio.to_thread(
                        self._trash.add_copy, self._workspace, source, operation
                    )
        except BaseException:
            self._failed(begun, "The command was not run.")
            raise
        if begun.rows:
            await self._journal.sync()
        return begun

    async def end(self, begun: RunningLine, *, succeeded: bool) -> str | None:
        """Enter the line into the log; return why it cannot be undone, None when it can."""
        if begun.reason is not None:
            return self._note(begun, begun.reason)
        if not begun.rows:
            return None
        rows = [(operation, self._journal.change(operation)) for operation in begun.rows]
        made = await asyncio.to_thread(self._are_done, rows)
        if succeeded and all(made):
            for operation in begun.rows:
                self._journal.end(operation, "done")
            return None
        self._failed(begun, "The command did only a part, so it cannot be undone.")
        if any(made):
            return self._note(begun, "it failed half way")
        return self._note(begun, "it did something else than it says") if succeeded else None

    def _failed(self, begun: RunningLine, why: str) -> None:
        for operation in begun.rows:
            self._journal.end(operation, "failed", ChangeOutcome(cannot_undo=why))

    def _note(self, begun: RunningLine, reason: str) -> str:
        """Record that a line ran which cannot be undone."""
        line = " ".join(begun.line.split())
        shown = line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
        why = f"Not covered by undo: {reason}."
        origin = replace(begun.origin, batch=None)
        change = LoggedChange("command", shown, origin, cannot_undo=why)
        self._journal.end(self._journal.begin(change), "done")
        return reason

    # in threads

    def _look(self, line: str) -> UndoableLine | UnsupportedCommand:
        commands = parse_shell_line(line)
        if isinstance(commands, UnsupportedCommand):
            return commands
        try:
            return UndoableLine(_PlannedState(self._workspace).of(commands))
        except _NotUndoable as error:
            return UnsupportedCommand(str(error))

    def _change(self, planned: PlannedChange, origin: ChangeOrigin) -> LoggedChange:
        path = f"{planned.path}/" if planned.kind == "mkdir" else planned.path
        source = planned.source
        version = None if source is None else Version(self._workspace.digest(source).sha256)
        change = LoggedChange(planned.kind, path, origin, new_document=planned.new_path)
        match planned.kind:
            case "delete":
                mode = self._workspace.stat(source or planned.path).mode
                return replace(change, before_version=version, mode=mode)
            case "move":
                return replace(change, before_version=version, after_version=version)
            case "copy":
                after = None if version is None else BlobHash(version)
                return replace(change, after_version=version, after=after)
            case "mkdir":
                return change

    def _are_done(self, rows: Sequence[tuple[OperationId, LoggedChange]]) -> list[bool]:
        """Return whether each change was made; a later change may have removed its trace."""
        touched_later: set[str] = set()
        found: list[bool] = []
        for operation, change in reversed(rows):
            ends = {change.document, change.new_document or change.document}
            found.append(bool(ends & touched_later) or self._is_done(change, operation))
            touched_later |= ends
        return found[::-1]

    def _is_done(self, change: LoggedChange, operation: OperationId) -> bool:
        if change.kind == "delete":
            return not _exists(self._workspace, self._workspace.path(change.document))
        return self._recovery.verdict(operation, change).state == "done"


@dataclass(slots=True)
class _PlannedState:
    """The state of the files after the commands of a line so far."""

    workspace: Workspace
    made: dict[WorkspacePath, Kind | None] = field(
        default_factory=dict[WorkspacePath, "Kind | None"]
    )
    sources: dict[WorkspacePath, WorkspacePath] = field(
        default_factory=dict[WorkspacePath, WorkspacePath]
    )
    changes: list[PlannedChange] = field(default_factory=list[PlannedChange])

    def of(self, commands: Sequence[ShellCommand]) -> tuple[PlannedChange, ...]:
        """Return the changes of all commands. Raises ``_NotUndoable``."""
        for command in commands:
            match command.verb:
                case "mv" | "cp":
                    self._transfer(command)
                case "rm":
                    for operand in command.operands:
                        self._remove(operand, command)
                case "mkdir":
                    for operand in command.operands:
                        self._make(operand, command)
            if len(self.changes) > MAX_CHANGES:
                raise _NotUndoable(f"it changes more than {MAX_CHANGES} files")
        return tuple(self.changes)

    def _transfer(self, command: ShellCommand) -> None:
        *operands, last = command.operands
        target = self._permitted(last)
        into = self._kind(target) == "folder"
        if not into and (len(operands) > 1 or last.endswith("/")):
            raise _NotUndoable(f"{last} is not a directory")
        for operand in operands:
            path = self._file(operand)
            new_path = WorkspacePath(posixpath.join(target, posixpath.basename(path)))
            self._move_or_copy(command, path, new_path if into else target)

    def _move_or_copy(
        self, command: ShellCommand, path: WorkspacePath, new_path: WorkspacePath
    ) -> None:
        if path == new_path:
            raise _NotUndoable(f"{path} would stay where it is")
        kind = self._kind(new_path)
        if kind == "folder":
            raise _NotUndoable(f"{new_path} is a directory")
        if kind == "file":
            self._refuse_shared(command, new_path)
            self._add(PlannedChange("delete", new_path, source=self._source(new_path)))
        elif self._kind(WorkspacePath(posixpath.dirname(new_path))) != "folder":
            raise _NotUndoable(f"the directory of {new_path} is missing")
        source = self._source(path)
        verb: Literal["move", "copy"] = "move" if command.verb == "mv" else "copy"
        self._add(PlannedChange(verb, path, new_path, source))
        self.made[new_path] = "file"
        self.sources[new_path] = source
        if verb == "move":
            self.made[path] = None

    def _refuse_shared(self, command: ShellCommand, path: WorkspacePath) -> None:
        """Refuse to copy over a file with other hard links: their content would change too."""
        shared = path not in self.made and self.workspace.stat(path).links > 1
        if command.verb == "cp" and shared:
            raise _NotUndoable(f"{path} has other names, which would change with it")

    def _remove(self, operand: str, command: ShellCommand) -> None:
        path = self._permitted(operand)
        if command.force and self._kind(path) is None:
            return
        path = self._file(operand)
        self._add(PlannedChange("delete", path, source=self._source(path)))
        self.made[path] = None

    def _make(self, operand: str, command: ShellCommand) -> None:
        path = self._permitted(operand)
        missing = [path] if self._kind(path) is None else []
        if not missing and not command.parents:
            raise _NotUndoable(f"{operand} is there already")
        above = WorkspacePath(posixpath.dirname(path))
        while missing and self._kind(above) is None:
            if not command.parents:
                raise _NotUndoable(f"the directory of {operand} is missing")
            missing.append(above)
            above = WorkspacePath(posixpath.dirname(above))
        for folder in reversed(missing):
            self._add(PlannedChange("mkdir", folder))
            self.made[folder] = "folder"

    def _add(self, planned: PlannedChange) -> None:
        self.changes.append(planned)

    def _file(self, operand: str) -> WorkspacePath:
        path = self._permitted(operand)
        kind = self._kind(path)
        if kind == "folder":
            raise _NotUndoable(f"{operand} is a directory")
        if kind is None:
            raise _NotUndoable(f"there is no {operand}")
        if path not in self.made and self.workspace.stat(path).size > _LARGEST:
            raise _NotUndoable(f"{operand} is too large to be kept")
        return path

    def _permitted(self, operand: str) -> WorkspacePath:
        try:
            path = permitted_path(self.workspace, operand.rstrip("/") or "/")
        except ShouldersError:
            raise _NotUndoable(
                f"{operand} is outside of the workspace, or kept from tools"
            ) from None
        if ".." in operand.split("/"):  # a shell resolves it above a link's target
            raise _NotUndoable(f"{operand} leads upwards")
        root = str(self.workspace.directory)
        if posixpath.normpath(posixpath.join(root, operand)) != posixpath.join(root, path):
            raise _NotUndoable(f"{operand} leads through a link")
        return path

    def _kind(self, path: WorkspacePath) -> Kind | None:
        if not path:
            return "folder"
        if path in self.made:
            return self.made[path]
        try:
            kind = self.workspace.kind(path)
        except NotFound:
            return None
        if kind == "other":
            raise _NotUndoable(f"{path} is no plain file")
        return kind

    def _source(self, path: WorkspacePath) -> WorkspacePath:
        return self.sources.get(path, path)


def _exists(workspace: Workspace, path: WorkspacePath) -> bool:
    try:
        workspace.kind(path)
    except NotFound:
        return False
    return True
