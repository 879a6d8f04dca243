"""Asks kernels what their variables are like (chapter 06); the tools' ``Variables``.

Made by ``host.documents.notebooks``. The snippets it sends cost a bounded time and call no code of
the user's objects. The last answer of each kernel's present life is kept: it is what there is while
the kernel is busy, and what the workspace meta is made of without waiting for anything.
"""

from __future__ import annotations

import ast
import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pydantic import ValidationError

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound, ShouldersError
from jupyter_ai_shoulders.notebook.base import KernelDirectory, KernelHandle
from jupyter_ai_shoulders.notebook.kernels.connection import (
    KernelConnection,
    Message,
    message_status,
)
from jupyter_ai_shoulders.notebook.kernels.queue import KernelQueues
from jupyter_ai_shoulders.notebook.kernels.variable_info import NamespaceInfo, VariableSnapshot
from jupyter_ai_shoulders.notebook.snippets.bundler import python_variables, r_code
from jupyter_ai_shoulders.wire.api.settings import DataValues

log = logging.getLogger(__name__)

MIME = "application/vnd.jupyter-ai-shoulders.variables+json"
OPEN_SECONDS = 8.0
"""How long the kernel may take to let us talk to it."""
BEGIN_SECONDS = 3.0
"""How long the question may wait in the kernel's queue before the kernel counts as busy."""
ANSWER_SECONDS = 10.0
"""How long the answer may take once it has begun; the snippets need far less."""
SETTLED_SECONDS = 1.0
"""After the agent was in the kernel: the next of many runs must not wait for a look."""
LATE_SECONDS = 0.3
LATE_CHECK_SECONDS = 0.02
"""How long after a run the server may still take its kernel for busy, and how often we look."""
ANSWER_LIMIT = 1_000_000
"""Characters of an answer."""
LANGUAGES = ("python", "r")
BUSY = "the kernel is busy"


class Variables(Protocol):
    """Knows what the variables of notebooks' kernels are like."""

    async def look(
        self, path: str, level: DataValues, names: Sequence[str] = ()
    ) -> VariableSnapshot:
        """Return what the kernel answers now, or its last answer while it is busy.

        Raises ``NotFound`` (no kernel), ``InvalidRequest`` (no snippet for its language),
        ``Conflict`` (busy and never asked, died, no answer).
        """
        ...


class CachedVariables(Protocol):
    """Knows what kernels answered last, and has it brought up to date beside everything else."""

    def last_of(self, handle: KernelHandle) -> VariableSnapshot | None:
        """Return the last answer of the kernel's present life, schema only, with its age."""
        ...

    def refresh_soon(self, handle: KernelHandle, delay_s: float = SETTLED_SECONDS) -> None:
        """Ask for a newer answer after so many seconds, if the kernel is idle; wait for nothing."""
        ...


@dataclass(slots=True)
class _Kept:
    """The last answer of a kernel, and the life of it that gave it."""

    life: object
    look: VariableSnapshot
    at: float


class KernelVariables:
    """The ``Variables`` of the kernels of a ``KernelDirectory``."""

    def __init__(self, kernels: KernelDirectory, lines: KernelQueues, clock: Clock) -> None:
        self._kernels = kernels
        self._lines = lines
        self._clock = clock
        self._kept: dict[str, _Kept] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._asking: Counter[str] = Counter()

    async def look(
        self, path: str, level: DataValues, names: Sequence[str] = ()
    ) -> VariableSnapshot:
        """See ``Variables.look``."""
        handle = await self._lines.find_alive(path, _quiet)
        if handle is None:
            raise NotFound(
                f"{path} has no running kernel, so it has no variables.",
                code="no_kernel",
                hint="Run a cell first.",
            )
        if handle.language.lower() not in LANGUAGES:
            raise InvalidRequest(
                f"Variables of {handle.language or 'these'} kernels cannot be inspected.",
                hint="Print what you need to know with run_code.",
            )
        if await self._stays_busy(handle):
            return self._last_or_refuse(handle, names, BUSY)
        try:
            return await self._ask(handle, level, tuple(names))
        except TimeoutError:
            return self._last_or_refuse(handle, names, BUSY)

    async def last(self, path: str) -> VariableSnapshot | None:
        """Return the kernel's last answer, schema only, with its age; ask nothing."""
        handle = await self._kernels.find(path)
        return None if handle is None else self.last_of(handle)

    def refresh_soon(self, handle: KernelHandle, delay_s: float = SETTLED_SECONDS) -> None:
        """See ``CachedVariables.refresh_soon``.

        Also called when something of the agent has been in the kernel, as its own questions are.
        """
        kernel_id = handle.kernel_id
        if kernel_id in self._tasks or kernel_id in self._asking:
            return
        task = asyncio.create_task(self._refresh(handle, delay_s))
        self._tasks[kernel_id] = task
        task.add_done_callback(lambda done: self._refreshed(kernel_id, done))

    async def aclose(self) -> None:
        """Ask nothing any more."""
        tasks = [*self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _refreshed(self, kernel_id: str, task: asyncio.Task[None]) -> None:
        self._tasks.pop(kernel_id, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("Looking at the variables of kernel %s failed", kernel_id, exc_info=error)

    async def _refresh(self, handle: KernelHandle, delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        if handle.language.lower() not in LANGUAGES or self._is_busy(handle):
            return
        try:
            await self._ask(handle, "schema_only", ())
        except (ShouldersError, TimeoutError) as error:
            log.info("The variables of kernel %s are not known: %s", handle.kernel_id, error)

    async def _stays_busy(self, handle: KernelHandle) -> bool:
        """Tell whether it is busy; the server may hear a moment late that a run has ended."""
        since = self._clock.monotonic()
        while busy := self._is_busy(handle):
            if self._clock.monotonic() - since >= LATE_SECONDS:
                break
            await asyncio.sleep(LATE_CHECK_SECONDS)
        return busy

    def _is_busy(self, handle: KernelHandle) -> bool:
        """Tell whether the kernel has something else to do than answer us.

        A question of ours that it answers just now is no such thing: the next one waits for it.
        """
        if handle.kernel_id in self._asking:
            return False
        state = getattr(handle.manager, "execution_state", None)
        return state == "busy" or self._lines.is_in_use(handle.kernel_id)

    def last_of(self, handle: KernelHandle) -> VariableSnapshot | None:
        """See ``CachedVariables.last_of``."""
        kept = self._kept.get(handle.kernel_id)
        if kept is None or kept.life is not _life(handle):
            return None
        return replace(kept.look, age_s=self._clock.monotonic() - kept.at)

    def _last_or_refuse(
        self, handle: KernelHandle, names: Sequence[str], why: str
    ) -> VariableSnapshot:
        last = self.last_of(handle)
        if last is None:
            raise Conflict(
                f"Its variables are not known: {why}, and there is no earlier list.",
                code="kernel_busy",
                hint="Ask again when it is idle.",
                retryable=True,
            )
        namespace = last.namespace.only(names) if names else last.namespace
        return replace(last, namespace=namespace, why_old=why)

    async def _ask(
        self, handle: KernelHandle, level: DataValues, names: tuple[str, ...]
    ) -> VariableSnapshot:
        """Return the kernel's answer. Raises ``TimeoutError`` (busy), ``Conflict``."""
        life = _life(handle)
        async with AsyncExitStack() as stack:
            self._asking[handle.kernel_id] += 1
            stack.callback(self._asked, handle.kernel_id)
            async with asyncio.timeout(OPEN_SECONDS):
                turn = await stack.enter_async_context(self._lines.lease(handle, _quiet))
            text = await _Question().ask(turn.connection, handle.language.lower(), level, names)
        look = VariableSnapshot(
            handle.kernel_id, handle.kernel_name, handle.language, level, _parsed(text)
        )
        if level == "schema_only" and not names:
            self._kept[handle.kernel_id] = _Kept(life, look, self._clock.monotonic())
        return look

    def _asked(self, kernel_id: str) -> None:
        self._asking[kernel_id] -= 1
        if not self._asking[kernel_id]:
            del self._asking[kernel_id]


class _Question:
    """A request whose answer is a text: in the reply (Python), or published (R)."""

    def __init__(self) -> None:
        self._begun = asyncio.Event()
        self._answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def ask(
        self, connection: KernelConnection, language: str, level: DataValues, names: tuple[str, ...]
    ) -> str:
        """Return the text. Raises ``TimeoutError`` when the kernel does something else."""
        if language == "python":
            code, expressions = "", {"variables": python_variables(level, names)}
        else:
            code, expressions = r_code(level, names, MIME), dict[str, str]()
        sent = connection.ask(code, self, silent=True, expressions=expressions)
        try:
            async with asyncio.timeout(BEGIN_SECONDS):
                await self._begun.wait()
            async with asyncio.timeout(ANSWER_SECONDS):
                return await self._answer
        finally:
            connection.forget(sent)
            self._answer.cancel()

    def on_output(self, message: Message) -> None:
        """Take a message of the output channel."""
        if message_status(message) == "busy":
            self._begun.set()
        if message["msg_type"] == "display_data" and MIME in message["content"]["data"]:
            self._settle(str(message["content"]["data"][MIME]))

    def on_reply(self, message: Message) -> None:
        """Take the reply."""
        self._begun.set()
        content = message["content"]
        found: dict[str, Any] = content.get("user_expressions", {}).get("variables", {})
        if found.get("status") == "ok":
            self._settle(_literal(found["data"].get("text/plain", "")))
        elif content.get("status") != "ok" or found:
            self._fail(found or content)

    def _settle(self, text: str) -> None:
        if not self._answer.done():
            self._answer.set_result(text)

    def _fail(self, error: dict[str, Any]) -> None:
        if self._answer.done():
            return
        said = f"{error.get('ename', error.get('status'))}: {error.get('evalue', '')}"
        self._answer.set_exception(
            Conflict(
                f"The kernel did not list its variables ({said.strip(': ')[:200]}).",
                code="aborted",
                hint="Ask again, or print what you need to know with run_code.",
                retryable=True,
            )
        )


def _literal(text: str) -> str:
    """Return the string a Python literal stands for; what is none stays, and is refused later."""
    if len(text) > ANSWER_LIMIT:
        return ""
    try:
        return str(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return text


def _parsed(text: str) -> NamespaceInfo:
    try:
        return NamespaceInfo.model_validate_json(text[: ANSWER_LIMIT + 1])
    except ValidationError as error:
        raise Conflict(
            "The kernel's answer about its variables cannot be read.",
            hint="Print what you need to know with run_code.",
        ) from error


def _life(handle: KernelHandle) -> object:
    # The manager makes a new ``ready`` future for each start of the process.
    return getattr(handle.manager, "ready", None)


def _quiet(text: str) -> None:
    del text
