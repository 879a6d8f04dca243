"""Sign-ins at MCP servers: kept in ``~/.shoulders/mcp_sign_ins.json``, begun and completed here.

The file is private and sealed against tools. Used by ``host.mcp_client.service``.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qs, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jupyter_ai_shoulders.core.errors import (
    InvalidRequest,
    NotFound,
    ShouldersError,
    StateUnavailable,
)
from jupyter_ai_shoulders.guard.config_files import read_json_config
from jupyter_ai_shoulders.mcp_client.connection_events import (
    ConnectionEnvironment,
    ConnectionEvents,
    OpenConnection,
)
from jupyter_ai_shoulders.mcp_client.server_entries import ServerEntry
from jupyter_ai_shoulders.mcp_client.sign_in_store import StoredSignIn
from jupyter_ai_shoulders.providers.private_file import replace_private
from jupyter_ai_shoulders.wire.api.mcp_servers import McpAuthorization

if TYPE_CHECKING:
    from mcp.shared.auth import AuthorizationCodeResult

FILE = "mcp_sign_ins.json"
USER_SECONDS = 600.0
"""How long the user may take to sign in."""
ANSWER_SECONDS = 30.0
"""How long a server may take to name its sign-in page, or to exchange the code."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SignInAnswer:
    """What came back to our address (RFC 6749, section 4.1.2; RFC 9207)."""

    state: str
    code: str | None = None
    issuer: str | None = None
    error: str | None = None


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    version: int = 1
    servers: dict[str, StoredSignIn] = Field(default_factory=dict)


@dataclass(eq=False)
class _Pending:
    """A sign-in that waits for the user."""

    server: str
    answer: asyncio.Future[SignInAnswer]
    task: asyncio.Task[None]


class SignIns:
    """The sign-ins of this user; also the ``SignInStore``. ``aclose`` it."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is ``~/.shoulders``."""
        self._path = folder / FILE
        self._known: _File | None = None
        self._writing = threading.Lock()
        self._needed: set[str] = set()
        self._pending: dict[str, _Pending] = {}

    async def load(self, server: str) -> StoredSignIn | None:
        """Return the sign-in of a server, or None."""
        return (await asyncio.to_thread(self._file)).servers.get(server)

    async def save(self, server: str, sign_in: StoredSignIn) -> None:
        """Replace the sign-in of a server. Raises ``StateUnavailable``."""
        await asyncio.to_thread(self._replace, server, sign_in)

    async def forget(self, server: str) -> None:
        """Remove the sign-in of a server. Raises ``StateUnavailable``."""
        self._cancel(server)
        await asyncio.to_thread(self._replace, server, None)

    def secrets(self) -> Iterator[str]:
        """Yield the values that must not be shown; blocks."""
        for stored in list(self._file().servers.values()):
            yield from stored.secrets()

    def status(self, entry: ServerEntry) -> McpAuthorization:
        """Return whether the user is signed in; blocks."""
        if entry.name in self._needed:
            return "needed"
        stored = self._file().servers.get(entry.name)
        return "signed_in" if stored is not None and stored.tokens is not None else "none"

    async def open_server(
        self, entry: ServerEntry, environment: ConnectionEnvironment, events: ConnectionEvents
    ) -> OpenConnection:
        """Start a server, with the user's tokens where it takes some; see ``OpenServer``."""
        from jupyter_ai_shoulders.mcp_client.connection import open_server

        if entry.transport == "stdio" or _has_own_key(entry):
            return await open_server(entry, environment, events)
        from jupyter_ai_shoulders.mcp_client.authorization import StoredAuthorization

        authorization = StoredAuthorization(entry, self)
        try:
            connection = await open_server(entry, environment, events, authorization)
        finally:
            if authorization.needed is not None:
                self._needed.add(entry.name)
        self._needed.discard(entry.name)
        return connection

    async def begin(self, entry: ServerEntry, redirect_url: str) -> str:
        """Return the address where the user signs in.

        Raises ``InvalidRequest`` (no sign-in is wanted or possible), ``StateUnavailable``.
        """
        if entry.transport == "stdio":
            raise InvalidRequest(f"The MCP server {entry.name} is a program; nothing to sign in.")
        from jupyter_ai_shoulders.mcp_client.authorization import SignInSteps, sign_in

        self._cancel(entry.name)
        loop = asyncio.get_running_loop()
        shown: asyncio.Future[str] = loop.create_future()
        answer: asyncio.Future[SignInAnswer] = loop.create_future()

        async def show(url: str) -> None:
            if not shown.done():
                shown.set_result(url)

        async def answered() -> AuthorizationCodeResult:
            async with asyncio.timeout(USER_SECONDS):
                return _code(await answer)

        task = asyncio.create_task(sign_in(entry, self, SignInSteps(redirect_url, show, answered)))
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await asyncio.wait({task, shown}, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError as error:
            task.cancel()
            raise StateUnavailable(
                f"{entry.name} did not name its sign-in page within {ANSWER_SECONDS:.0f} s.",
                retryable=True,
            ) from error
        if not shown.done():
            await task  # raises why
            raise InvalidRequest(f"The MCP server {entry.name} wants no sign-in.")
        url = shown.result()
        state = parse_qs(urlsplit(url).query).get("state", [""])[0]
        if urlsplit(url).scheme not in {"http", "https"} or not state:
            task.cancel()
            raise InvalidRequest(f"{entry.name} names a sign-in page that is not a web page.")
        pending = _Pending(entry.name, answer, task)
        self._pending[state] = pending
        task.add_done_callback(lambda done: self._ended(state, done))
        return url

    async def finish(self, given: SignInAnswer) -> str:
        """Complete a sign-in, and return the name of its server.

        Raises ``NotFound`` (unknown or expired), ``InvalidRequest`` (refused), ….
        """
        pending = self._pending.pop(given.state, None)
        if pending is None or pending.answer.done():
            raise NotFound(
                "This sign-in is not known or has expired.",
                hint="Begin again on the settings page, under MCP servers.",
            )
        pending.answer.set_result(given)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await pending.task
        except TimeoutError as error:
            raise StateUnavailable(
                f"{pending.server} did not complete the sign-in within {ANSWER_SECONDS:.0f} s.",
                retryable=True,
            ) from error
        self._needed.discard(pending.server)
        return pending.server

    async def aclose(self) -> None:
        """End sign-ins that wait."""
        tasks = [pending.task for pending in self._pending.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _cancel(self, server: str) -> None:
        for pending in list(self._pending.values()):
            if pending.server == server:
                pending.task.cancel()

    def _ended(self, state: str, task: asyncio.Task[None]) -> None:
        self._pending.pop(state, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.info("A sign-in at an MCP server ended: %s", error)

    def _file(self) -> _File:
        if self._known is None:
            try:
                self._known = _File.model_validate_json(read_json_config(self._path))
            except FileNotFoundError:
                self._known = _File()
            except (OSError, ValidationError) as error:
                _log.warning("Sign-ins at MCP servers are not used: %s", type(error).__name__)
                self._known = _File()
        return self._known

    def _replace(self, server: str, sign_in: StoredSignIn | None) -> None:
        with self._writing:
            servers = dict(self._file().servers)
            if sign_in is None:
                if servers.pop(server, None) is None:
                    return
            else:
                servers[server] = sign_in
            file = _File(servers=servers)
            try:
                replace_private(self._path, json.dumps(file.model_dump(mode="json")) + "\n")
            except OSError as error:
                raise StateUnavailable(
                    f"The sign-in could not be saved ({error.strerror}).",
                    hint=f"Make {self._path} writable.",
                ) from error
            self._known = file


def _has_own_key(entry: ServerEntry) -> bool:
    return any(name.lower() == "authorization" for name, _ in entry.headers)


def _code(given: SignInAnswer) -> AuthorizationCodeResult:
    from mcp.shared.auth import AuthorizationCodeResult

    if given.error is not None or given.code is None:
        raise cast(
            "ShouldersError",
            InvalidRequest(f"The sign-in was refused: {(given.error or '')[:200]}"),
        )
    return AuthorizationCodeResult(code=given.code, state=given.state, iss=given.issuer)
