"""Asks kernels to describe their variables; the tools' ``Variables``.

Made by ``host.documents.notebooks``. The snippets it sends cost a bounded time and call no code of
the user's objects. The last answer of each kernel's current generation is cached, for the
time while the kernel is busy, and for the workspace meta, which waits for nothing.
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
from jupyter_ai_shoulders.notebook.kernel_channels import generation_of
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
"""Timeout for the connection to the kernel."""
BEGIN_SECONDS = 3.0
"""Seconds the question may wait in the kernel's queue before the kernel counts as busy."""
ANSWER_SECONDS = 10.0
"""Timeout for the answer once it has begun; the snippets take far less."""
SETTLED_SECONDS = 1.0
"""Delay after the agent's code, so that the next of many runs does not wait for a question."""
LATE_SECONDS = 0.3
LATE_CHECK_SECONDS = 0.02
"""How long after a run the server may still report its kernel as busy, and the polling interval."""
ANSWER_LIMIT = 1_000_000
"""Characters of an answer."""
LANGUAGES = ("python", "r")
BUSY = "the kernel is busy"


class Variables(Protocol):
    """Describes the variables of notebooks' kernels."""

    async def describe(
        self, path: str, level: DataValues, names: Sequence[str] = ()
    ) -> VariableSnapshot:
        """Return the kernel's answer, or its last answer while it is busy.

        Raises ``NotFound`` (no kernel), ``InvalidRequest`` (no snippet for its language),
        ``Conflict`` (busy and never asked, died, no answer).
        """
        ...


class CachedVariables(Protocol):
    """The last answers of kernels, refreshed in the background."""

    def last_of(self, handle: KernelHandle) -> VariableSnapshot | None:
        """Return the last answer of the kernel's current generation, schema only, with its age."""
        ...

    def refresh_soon(self, handle: KernelHandle, delay_s: float = SETTLED_SECONDS) -> None:
        """Refresh the answer after a delay, if the kernel is idle; does not wait."""
        ...


@dataclass(slots=True)
class _CachedAnswer:
    """The last answer of a kernel, and the generation it is from."""

    generation: object
    snapshot: VariableSnapshot
    at: float


class KernelVariables:
    """The ``Variables`` of the kernels of a ``KernelDirectory``."""

    def __init__(self, kernels: KernelDirectory, queues: KernelQueues, clock: Clock) -> None:
        self._kernels = kernels
        self._queues = queues
        self._clock = clock
        self._cached: dict[str, _CachedAnswer] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._asking: Counter[str] = Counter()

    async def describe(
        self, path: str, level: DataValues, names: Sequence[str] = ()
    ) -> VariableSnapshot:
        """See ``Variables.describe``."""
        handle = await self._queues.find_alive(path, _quiet)
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
        """Return the kernel's last answer, schema only, with its age, without a question."""
        handle = await self._kernels.find(path)
        return None if handle is None else self.last_of(handle)

    def refresh_soon(self, handle: KernelHandle, delay_s: float = SETTLED_SECONDS) -> None:
        """See ``CachedVariables.refresh_soon``.

        Also called after each lease of the agent, including those of this class's queries.
        """
        kernel_id = handle.kernel_id
        if kernel_id in self._tasks or kernel_id in self._asking:
            return
        task = asyncio.create_task(self._refresh(handle, delay_s))
        self._tasks[kernel_id] = task
        task.add_done_callback(lambda done: self._refreshed(kernel_id, done))

    async def aclose(self) -> None:
        """Stop refreshing."""
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
        """Return whether it is busy; the server may notice the end of a run a moment late."""
        since = self._clock.monotonic()
        while busy := self._is_busy(handle):
            if self._clock.monotonic() - since >= LATE_SECONDS:
                break
            await asyncio.sleep(LATE_CHECK_SECONDS)
        return busy

    def _is_busy(self, handle: KernelHandle) -> bool:
        """Return whether the kernel runs other code.

        A question of ours that it is answering does not count: the next one waits for it.
        """
        if handle.kernel_id in self._asking:
            return False
        state = getattr(handle.manager, "execution_state", None)
        return state == "busy" or self._queues.is_in_use(handle.kernel_id)

    def last_of(self, handle: KernelHandle) -> VariableSnapshot | None:
        """See ``CachedVariables.last_of``."""
        cached = self._cached.get(handle.kernel_id)
        if cached is None or cached.generation is not generation_of(handle.manager):
            return None
        return replace(cached.snapshot, age_s=self._clock.monotonic() - cached.at)

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
        generation = generation_of(handle.manager)
        async with AsyncExitStack() as stack:
            self._asking[handle.kernel_id] += 1
            stack.callback(self._end_question, handle.kernel_id)
            async with asyncio.timeout(OPEN_SECONDS):
                turn = await stack.enter_async_context(self._queues.lease(handle, _quiet))
            text = await _Question().ask(turn.connection, handle.language.lower(), level, names)
        snapshot = VariableSnapshot(
            handle.kernel_id, handle.kernel_name, handle.language, level, _parsed(text)
        )
        if level == "schema_only" and not names:
            self._cached[handle.kernel_id] = _CachedAnswer(
                generation, snapshot, self._clock.monotonic()
            )
        return snapshot

    def _end_question(self, kernel_id: str) -> None:
        self._asking[kernel_id] -= 1
        if not self._asking[kernel_id]:
            del self._asking[kernel_id]


class _Question:
    """A request whose answer is a text: in the reply (Python), or published (R)."""

    def __init__(self) -> None:
        self._started = asyncio.Event()
        self._answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def ask(
        self, connection: KernelConnection, language: str, level: DataValues, names: tuple[str, ...]
    ) -> str:
        """Return the text. Raises ``TimeoutError`` when the kernel is busy."""
        if language == "python":
            code, expressions = "", {"variables": python_variables(level, names)}
        else:
            code, expressions = r_code(level, names, MIME), dict[str, str]()
        sent = connection.ask(code, self, silent=True, expressions=expressions)
        try:
            async with asyncio.timeout(BEGIN_SECONDS):
                await self._started.wait()
            async with asyncio.timeout(ANSWER_SECONDS):
                return await self._answer
        finally:
            connection.forget(sent)
            self._answer.cancel()

    def on_output(self, message: Message) -> None:
        """Handle a message of the output channel."""
        if message_status(message) == "busy":
            self._started.set()
        if message["msg_type"] == "display_data" and MIME in message["content"]["data"]:
            self._settle(str(message["content"]["data"][MIME]))

    def on_reply(self, message: Message) -> None:
        """Handle the reply."""
        self._started.set()
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
    """Return the value of a Python string literal; other text is returned as it is, and refused
    later.
    """
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


def _quiet(text: str) -> None:
    del text
