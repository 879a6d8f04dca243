"""The tool that runs a command line in the workspace."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import ExitStack, aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import Field

from jupyter_ai_shoulders.core.errors import PolicyRefusal
from jupyter_ai_shoulders.core.sensitive_files.protected_files import first_protected_file_in
from jupyter_ai_shoulders.files.base import ChangeOrigin
from jupyter_ai_shoulders.files.undo.shell_commands import UnsupportedCommand, parse_shell_line
from jupyter_ai_shoulders.files.undo.shell_undo import RunningLine, UndoableLine
from jupyter_ai_shoulders.guard.process.launcher import Spawner
from jupyter_ai_shoulders.guard.process.program import EndReason, Program, ProgramExit, shell_words
from jupyter_ai_shoulders.guard.process.spawner_pool import SpawnerPool
from jupyter_ai_shoulders.guard.sandbox.capabilities import SandboxCapabilities
from jupyter_ai_shoulders.guard.sandbox.sandbox import Sandbox
from jupyter_ai_shoulders.guard.sandbox.sandbox_policy import SandboxRequest
from jupyter_ai_shoulders.tools.base import (
    BackgroundCall,
    BaseTool,
    CallContext,
    CallSubject,
    Effect,
    Result,
    Target,
    ToolArguments,
    ToolOutput,
    refusal,
    text_content,
)
from jupyter_ai_shoulders.tools.commands.new_file_monitor import NewFileMonitor
from jupyter_ai_shoulders.tools.commands.output_buffer import CommandOutput
from jupyter_ai_shoulders.tools.permissions.command_rules import is_plain_git
from jupyter_ai_shoulders.wire.api.settings import CommandMode
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CallId, SessionId
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

RUN_COMMAND = "run_command"
TIME_LIMIT_S = 120.0
_NAMED = 3
_REACHES_SERVERS = (
    "With the network it can connect to your Jupyter servers on this machine: this system's "
    "sandbox cannot close their ports."
)


@dataclass(frozen=True, slots=True)
class CommandPolicy:
    """How commands may currently run."""

    mode: CommandMode
    network: bool = False
    strict: bool = False
    """Whether commands are refused if there is no sandbox."""


class CommandUndo(Protocol):
    """Records and undoes commands; implemented by ``files.undo.shell_undo``."""

    async def inspect(self, line: str) -> UndoableLine | UnsupportedCommand:
        """Return the predicted effect of a line."""
        ...

    async def begin(self, line: str, origin: ChangeOrigin) -> RunningLine:
        """Store the files it will change before it runs. Raises ``StateUnavailable``."""
        ...

    async def end(self, begun: RunningLine, *, succeeded: bool) -> str | None:
        """Record its end; return why it cannot be undone."""
        ...


class RunCommandArguments(ToolArguments):
    """Arguments of ``run_command``."""

    command: str = Field(
        min_length=1, max_length=50_000, description="A line for bash, run in the workspace."
    )
    timeout: float | None = Field(
        default=None,
        gt=0,
        le=86_400,
        description="Seconds it may take; none: 120, and no limit in the background.",
    )
    background: bool = Field(
        default=False, description="Go on at once while it runs; you are told when it has ended."
    )


@dataclass(frozen=True, slots=True)
class _Confinement:
    """How a command is confined; not at all without ``wanted``."""

    facts: SandboxCapabilities
    wanted: SandboxRequest | None


class RunCommand(BaseTool[RunCommandArguments]):
    """Runs a command line; ``aclose`` it with the host."""

    name = RUN_COMMAND
    category = "workspace"
    risk = "execute"
    arguments = RunCommandArguments

    def __init__(
        self,
        *,
        folder: Path,
        rules: Callable[[], CommandPolicy],
        environment: Callable[[], Mapping[str, str]],
        spawners: SpawnerPool,
        sandbox: Sandbox,
        undo: CommandUndo,
    ) -> None:
        self._folder = folder
        self._rules = rules
        self._environment = environment
        self._spawners = spawners
        self._sandbox = sandbox
        self._undo = undo
        self._prepared: dict[tuple[SessionId, CallId], Spawner] = {}
        """Keyed by session too, since calls of two conversations may have the same id."""

    async def subject(self, args: RunCommandArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with the exact line and its confinement.

        Raises ``PolicyRefusal`` if commands are off or the required sandbox is missing.
        """
        confinement = await self._confinement(args.command)
        self._spawners.warm()
        covered = await self._undo.inspect(args.command)
        uncovered = covered.reason if isinstance(covered, UnsupportedCommand) else None
        return CallSubject(
            title="Run a command in the background" if args.background else "Run a command",
            target_label=None,
            target=Target(command=args.command),
            preview=args.command,
            language="bash",
            undoable=uncovered is None,
            always_ask_reason=await self._exposure_reason(confinement),
            protected_path=None
            if parse_shell_line(args.command) == ()
            else first_protected_file_in(args.command),
            sandboxed=confinement.wanted is not None,
            network=confinement.wanted and confinement.wanted.network,
            read_only=confinement.wanted and confinement.wanted.read_only,
            notes=() if uncovered is None else (f"Not covered by undo: {uncovered}.",),
        )

    async def prepare(self, context: CallContext) -> Effect:
        """Take a spawner process, and return its identity for crash recovery."""
        spawner = await self._spawners.acquire()
        self._prepared[context.session_id, context.call_id] = spawner
        return Effect(pid=spawner.pid, process_start=spawner.start)

    async def run(
        self, args: RunCommandArguments, context: CallContext
    ) -> AsyncGenerator[ToolOutput]:
        """Run it. Cancellation ends all its processes first."""
        waiting = self._prepared.pop((context.session_id, context.call_id), None)
        spawner = waiting or await self._spawners.acquire()
        try:
            async with aclosing(self._run(spawner, args, context)) as items:
                async for item in items:
                    yield item
        finally:
            await spawner.aclose()

    async def aclose(self) -> None:
        """Close spawners that were prepared but never used, the sandbox and the pool."""
        waiting, self._prepared = self._prepared, {}
        for spawner in waiting.values():
            await spawner.aclose()
        await self._sandbox.aclose()
        await self._spawners.aclose()

    async def _run(
        self, spawner: Spawner, args: RunCommandArguments, context: CallContext
    ) -> AsyncGenerator[ToolOutput]:
        confinement = await self._confinement(args.command)
        if context.subject is not None and not _matches_subject(confinement, context.subject):
            yield refusal(
                "Nothing ran: the sandbox settings changed just before the command started.",
                "If the command is still wanted, repeat the call; the user decides again.",
                "stale",
            )
            return
        origin = ChangeOrigin(context.session_id, context.turn_id, context.call_id)
        running = await self._undo.begin(args.command, origin)
        report = _CommandReport(args.command, confinement)
        new_files = NewFileMonitor(self._sandbox, confinement.wanted)
        exit_status: ProgramExit | None = None
        stack = ExitStack()
        try:
            program = await asyncio.to_thread(self._program, args, confinement, stack, new_files)
            yield BackgroundCall(report.so_far, detached=args.background)
            async with new_files.watched(), aclosing(spawner.run(program)) as items:
                async for item in items:
                    if isinstance(item, ProgramExit):
                        exit_status = item
                        break
                    for progress in report.output.add(item, time.monotonic()):
                        yield progress
        finally:
            succeeded = (
                exit_status is not None and exit_status.code == 0 and exit_status.reason is None
            )
            uncovered = await self._undo.end(running, succeeded=succeeded)
            await asyncio.to_thread(stack.close)
        assert exit_status is not None, "a command that was not cancelled ends"
        yield report.result(exit_status, args.timeout or TIME_LIMIT_S, uncovered, new_files.report)

    def _program(
        self,
        args: RunCommandArguments,
        confinement: _Confinement,
        stack: ExitStack,
        new_files: NewFileMonitor,
    ) -> Program:
        limit = args.timeout or (None if args.background else TIME_LIMIT_S)
        program = Program(
            shell_words(args.command), self._folder, self._environment(), time_limit_s=limit
        )
        if confinement.wanted is None:
            return program
        found = new_files.snapshot_before()
        return stack.enter_context(
            self._sandbox.confined(program, confinement.facts, confinement.wanted, found)
        )

    async def _confinement(self, line: str) -> _Confinement:
        """Return a command's current confinement. Raises ``PolicyRefusal``."""
        rules = self._rules()
        if rules.mode == "none":
            raise PolicyRefusal(
                "Commands are switched off here.",
                code="disabled",
                hint="The user or the administrator can allow them: commands.mode in the settings.",
            )
        facts = await self._sandbox.capabilities()
        if rules.mode == "host":
            return _Confinement(facts, None)
        if facts.kind == "none" and rules.strict:
            raise PolicyRefusal(
                f"Commands run only in a sandbox here, and there is none. {facts.detail}",
                code="disabled",
                hint="Use the file and notebook tools, or ask the user.",
            )
        wanted = SandboxRequest(
            read_only=rules.mode == "sandbox_read_only",
            network=rules.network,
            repositories=is_plain_git(line),
        )
        return _Confinement(facts, None if facts.kind == "none" else wanted)

    async def _exposure_reason(self, confinement: _Confinement) -> str | None:
        """Return why even a sandboxed command asks: the sandbox cannot protect something."""
        if confinement.wanted is None:
            return None
        exposed = await asyncio.to_thread(
            self._sandbox.exposure, confinement.facts, confinement.wanted
        )
        missed = ""
        if exposed.truncated:
            missed = (
                "The workspace is too large to search completely for files with keys or "
                "instructions; the command could read those that were not found."
            )
        if exposed.servers:
            missed = f"{missed} {_REACHES_SERVERS}".strip()
        if not exposed.paths:
            return missed or None
        names = [Path(path).name for path in exposed.paths[:_NAMED]]
        more = f" and {len(exposed.paths) - _NAMED} more" if len(exposed.paths) > _NAMED else ""
        return (
            f"This system's sandbox cannot keep the command from {', '.join(names)}{more} "
            f"in the workspace. {missed}"
        ).strip()


def _matches_subject(confinement: _Confinement, subject: CallSubject) -> bool:
    """Return whether the confinement still matches the judged subject."""
    if confinement.wanted is None:
        return subject.sandboxed is False
    now = (True, confinement.wanted.network, confinement.wanted.read_only)
    return now == (subject.sandboxed, subject.network, subject.read_only)


class _CommandReport:
    """Builds a command's results while it runs and at its end."""

    def __init__(self, command: str, confinement: _Confinement) -> None:
        self.output = CommandOutput()
        self._command = command
        self._held = confinement
        self._began = time.monotonic()

    def so_far(self) -> Result:
        """Return the output so far."""
        line = f"The command is still running · {self._seconds():.1f} s"
        return self._made(line, None, {"status": "running"})

    def result(
        self, exit_status: ProgramExit, limit_s: float, uncovered: str | None, warning: str | None
    ) -> Result:
        """Return the final result, with ``warning`` added."""
        error = _error(exit_status, limit_s)
        outcome = "It ended with exit code 0" if error is None else error.message
        facts = {
            "status": "ok" if error is None else "error",
            "exit_code": exit_status.code,
            "ended_because": exit_status.reason,
            "not_undoable": uncovered,
        }
        lines = [f"{outcome} · {self._seconds():.1f} s"]
        if exit_status.orphans:
            lines.append(f"[{exit_status.orphans} processes it had left running were ended.]")
        if exit_status.stuck:
            lines.append(f"[{exit_status.stuck} of its processes could not be ended.]")
        if error is not None and error.hint:
            lines.append(error.hint)
        if warning is not None:
            lines.append(warning)
        return self._made("\n".join(lines), error, facts, warning)

    def _made(
        self,
        head: str,
        error: ErrorInfo | None,
        facts: Mapping[str, object],
        warning: str | None = None,
    ) -> Result:
        text = self.output.text()
        body = f"--- output\n{text}" if text else "(no output)"
        duration = round(self._seconds() * 1000)
        return Result(
            envelope=ToolEnvelope(
                ok=error is None,
                kind="text",
                data={  # pyright: ignore[reportArgumentType]: the facts are JSON values
                    "command": self._command,
                    "sandbox": self._held.facts.kind if self._held.wanted else "none",
                    "duration_ms": duration,
                    "output_characters": self.output.length,
                    **facts,
                },
                warning=warning,
                error=error,
                meta=ResultMeta(duration_ms=duration),
            ),
            content=text_content(f"{head}\n{body}"),
        )

    def _seconds(self) -> float:
        return time.monotonic() - self._began


_BECAUSE: Mapping[EndReason, str] = {
    "processes": "it had started too many processes",
    "memory": "it used too much memory",
    "output": "it printed more than 1 GiB",
    "lost": "the process watching it was killed; its effects are not known",
    "stopped": "it was stopped on request",
    "gone": "it was stopped on request",
}


def _error(exit_status: ProgramExit, limit_s: float) -> ErrorInfo | None:
    if exit_status.reason == "time":
        return ErrorInfo(
            code="timeout",
            message=f"It was ended after {limit_s:g} s, its time limit",
            hint="Give a longer timeout, or run it in the background.",
        )
    if exit_status.reason is not None:
        return ErrorInfo(code="aborted", message=f"It was ended: {_BECAUSE[exit_status.reason]}")
    if exit_status.code == 0:
        return None
    return ErrorInfo(code="command_failed", message=f"It failed: {_code(exit_status.code)}")


def _code(code: int | None) -> str:
    if code is None:
        return "its exit code is not known"
    return f"exit code {code}" if code >= 0 else f"ended by signal {-code}"
