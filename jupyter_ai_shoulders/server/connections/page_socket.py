"""The page socket: one per browser page, for events and for live documents.

See docs/design/wire-and-api.md.
"""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any, cast

from jupyter_server.auth import IdentityProvider
from jupyter_server.auth.decorator import authorized, ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from jupyter_server.utils import ensure_async
from pydantic import TypeAdapter
from tornado.ioloop import IOLoop
from tornado.web import HTTPError
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from jupyter_ai_shoulders import __version__
from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.errors import InvalidRequest, ShouldersError, TooLarge
from jupyter_ai_shoulders.core.json_limits import json_excess
from jupyter_ai_shoulders.host.build import Host
from jupyter_ai_shoulders.server.auth.kernel_access import (
    KernelAuthenticator,
    refuse_document_frame,
    refuse_privilege_escalation,
)
from jupyter_ai_shoulders.server.auth.kernel_secrets import KernelIdentity
from jupyter_ai_shoulders.server.auth.user_identity import owner_of
from jupyter_ai_shoulders.server.connections.connection_registry import PageConnectionRegistry
from jupyter_ai_shoulders.server.connections.page_connection import PageConnection
from jupyter_ai_shoulders.server.handlers.base import (
    AUTH_RESOURCE,
    HostSource,
    error_info,
    status_of,
)
from jupyter_ai_shoulders.server.handlers.request_body import (
    MESSAGE_BYTES,
    check_bytes,
    parse_json,
)
from jupyter_ai_shoulders.storage.errors import cursor_beyond_log, session_not_found
from jupyter_ai_shoulders.storage.json_encoding import encode_model
from jupyter_ai_shoulders.storage.schema.event_rows import EventText
from jupyter_ai_shoulders.wire.api.responses import MessageAccepted
from jupyter_ai_shoulders.wire.base import WIRE_VERSION, WireModel
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.frames import (
    FrameError,
    Hello,
    MessageRefused,
    MessageSend,
    MessageSent,
    PageFrame,
    Resync,
    Subscribe,
    Unsubscribe,
    Welcome,
)
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.sessions import Session

MAX_FRAME_BYTES = 64 << 20
"""A page sends whole notebooks with their outputs on request."""
MAX_FRAME_VALUES = 300_000
"""Maximum JSON values in a frame: those of 40 000 cells, or of a chart with its data."""
LARGE_FRAME = 1 << 17
"""Frames with more characters are parsed in a thread."""
CATCH_UP_CHARACTERS = 1 << 19
"""Maximum characters sent to a page whose missed events are few and large."""
KERNEL_STOPPED = 1008
"""Closes the socket of a kernel whose secret is no longer valid."""
CATCH_UP_EVENTS = 1000
"""A page further behind fetches the events in pages over HTTP."""


class PageSocketHandler(  # pyright: ignore[reportIncompatibleMethodOverride]: Jupyter's own mix
    WebSocketMixin, WebSocketHandler, JupyterHandler
):
    """``socket``."""

    auth_resource = AUTH_RESOURCE

    _kernel: KernelIdentity | None = None

    def initialize(
        self,
        host_source: HostSource,
        connections: PageConnectionRegistry,
        authenticator: KernelAuthenticator | None = None,
    ) -> None:
        """Called by tornado with the arguments of the route; ``authenticator`` admits kernels."""
        self._host_source = host_source
        self._authenticator = authenticator
        self._connections = connections
        self._page: PageConnection | None = None
        self._frames = page_frames()
        self._sending: set[asyncio.Task[None]] = set()

    @property
    def identity_provider(self) -> IdentityProvider:
        """The server's identity provider, or that of a kernel whose widget shows a panel."""
        return self._kernel or super().identity_provider

    def prepare(self, *args: Any, **kwargs: Any) -> Any:
        """Authenticate as Jupyter does, or by a kernel's secret."""
        if self._authenticator is not None:
            self._kernel = self._authenticator.identity(self.request)
        return cast("Any", super()).prepare(*args, **kwargs)

    @property
    def max_message_size(self) -> int:
        """Maximum bytes of an accepted frame."""
        return MAX_FRAME_BYTES

    @ws_authenticated
    @authorized("execute")  # pyright: ignore[reportUntypedFunctionDecorator]: typed for plain use
    async def get(self, *args: str, **kwargs: str) -> None:
        """Open the socket for a user with permission to execute."""
        try:
            self._host: Host = await self._host_source()
        except ShouldersError as error:
            raise HTTPError(status_of(error), str(error)) from error
        await super().get(*args, **kwargs)

    def open(self, *args: str, **kwargs: str) -> None:
        """Start the pings; without ``nodelay`` two small frames take 40 ms."""
        super().open(*args, **kwargs)
        self.set_nodelay(True)

    async def on_message(self, message: str | bytes) -> None:
        """Handle one frame; the next one waits for it."""
        if not self._is_let_in():
            return
        try:
            if len(message) > LARGE_FRAME:
                frame = await asyncio.to_thread(self._parsed, message)
            else:
                frame = self._parsed(message)
            if self._kernel is not None:
                refuse_document_frame(frame)
            if self._page is None:
                await self._first(frame)
            else:
                await self._serve(self._page, frame, len(message))
        except ShouldersError as error:
            await self._refuse(error)
        except Exception:
            self.log.exception("A frame of a page could not be served")
            await self._refuse(ShouldersError("Something went wrong on the server; see its log."))

    def _parsed(self, message: str | bytes) -> PageFrame:
        """Return the frame. Raises ``InvalidRequest`` and ``TooLarge``. May run in a thread."""
        raw = message.encode("utf-8", "replace") if isinstance(message, str) else message
        excess = json_excess(raw, MAX_FRAME_VALUES)
        if excess is not None:
            raise TooLarge(f"A frame has {excess}.")
        return parse_json(self._frames, message)

    def on_close(self) -> None:
        """Forget the page; its notebooks are no longer live, unless it has already reconnected."""
        super().on_close()
        page, self._page = self._page, None
        if page is not None and self._connections.remove(page):
            self._host.frames.disconnected(page.client_id)
            self._host.presence.left(page.user, page.client_id, self._silent_seconds)

    @property
    def _silent_seconds(self) -> float:
        """Seconds since the last message of a page that left a ping unanswered: its computer may be
        suspended.
        """
        if self.close_code is not None or self.last_pong >= self.last_ping:
            return 0.0
        return max(0.0, IOLoop.current().time() - self.last_pong)

    async def send(self, text: str) -> None:
        """Send a frame; done when the page has taken it."""
        if not self._is_let_in():
            return
        try:
            await self.write_message(text)
        except WebSocketClosedError:
            self.log.debug("A frame was not sent: the page is gone")

    def _is_let_in(self) -> bool:
        """Return whether the kernel that opened the socket, if any, still runs; else close it."""
        if self._kernel is None or (
            self._authenticator and self._authenticator.identity(self.request)
        ):
            return True
        self.close(KERNEL_STOPPED, "the kernel has ended")
        return False

    async def _first(self, frame: PageFrame) -> None:
        if not isinstance(frame, Hello):
            raise InvalidRequest("The first frame of a page must be hello.")
        await self.send(_text(_welcome()))
        if frame.wire_version != WIRE_VERSION:
            return  # the page asks its user to reload
        user = owner_of(self.current_user) if self._host.settings.has_owners else None
        self._connections.check(frame.client_id, user)
        page = self._page = PageConnection(self, frame.client_id, user)
        self._connections.add(page)
        self._host.frames.connected(page.client_id)
        if self._kernel is None:
            self._host.presence.arrived(page.user, page.client_id)
        for session_id, after in frame.cursors.items():
            try:
                self._follow(page, session_id, after)
            except ShouldersError as error:
                page.send(FrameError(error=error.info))

    async def _serve(self, page: PageConnection, frame: PageFrame, size: int) -> None:
        match frame:
            case Subscribe():
                self._follow(page, frame.session_id, frame.after)
            case Unsubscribe():
                page.unfollow(frame.session_id)
            case MessageSend():  # not awaited: the page's next frame need not wait for the disk
                task = asyncio.create_task(self._send_message(page, frame, size))
                self._sending.add(task)
                task.add_done_callback(self._sending.discard)
            case Hello():
                raise InvalidRequest("This page said hello already.")
            case _:
                await self._host.frames.handle(page.client_id, frame)

    async def _send_message(self, page: PageConnection, frame: MessageSend, size: int) -> None:
        """Do what ``POST sessions/{id}/messages`` does, and answer the page."""
        command, session_id = frame.message, frame.session_id
        try:
            accepted = await self._accepted(page, frame, size)
        except Exception as error:
            if not isinstance(error, ShouldersError | HTTPError):
                self.log.exception("A message could not be accepted")
            status = status_of(error)
            info = self._host.redact(encode_model(error_info(status, error))[1])
            page.send(
                MessageRefused(
                    session_id=session_id,
                    message_id=command.id,
                    status=status,
                    error=ErrorInfo.model_validate_json(info),
                )
            )
        else:
            page.send(MessageSent(session_id=session_id, message_id=command.id, accepted=accepted))

    async def _accepted(
        self, page: PageConnection, frame: MessageSend, size: int
    ) -> MessageAccepted:
        user = self.current_user
        if not await ensure_async(
            self.authorizer.is_authorized(self, user, "write", AUTH_RESOURCE)
        ):
            raise HTTPError(403, f"User is not authorized to write on resource: {AUTH_RESOURCE}.")
        check_bytes(size, MESSAGE_BYTES)
        command = frame.message
        if command.client_id is None:
            command = command.model_copy(update={"client_id": page.client_id})
        if self._kernel is not None:
            refuse_privilege_escalation(command)
        session = self._visible_session(page, frame.session_id)
        self._host.services.current_page.set_client(page.client_id)
        return await self._host.engine.send(session.id, command)

    def _visible_session(self, page: PageConnection, session_id: SessionId) -> Session:
        """Return a session the page's user may access. Raises ``NotFound``."""
        session = self._host.sessions.get(session_id)
        if page.user is not None and session.owner not in {None, page.user}:
            raise session_not_found(session_id)
        return session

    def _follow(self, page: PageConnection, session_id: SessionId, after: int) -> None:
        """Send the events that the page missed, and all later ones, without a gap."""
        session = self._visible_session(page, session_id)
        behind = session.last_seq - after
        if behind < 0:
            raise cursor_beyond_log(session_id, session.last_seq, after)
        missed = self._missed(session_id, after) if behind <= CATCH_UP_EVENTS else []
        if len(missed) < behind:
            page.unfollow(session_id)
            page.send(Resync(session_id=session_id, after=after))
        else:
            page.follow(session_id, session.last_seq, missed)

    def _missed(self, session_id: SessionId, after: int) -> list[EventText]:
        """Return the events after ``after``, or only the first ones if they are too large."""
        return self._host.log.texts(session_id, after, most_characters=CATCH_UP_CHARACTERS)

    async def _refuse(self, error: ShouldersError) -> None:
        """Report the error; a client with an unknown first frame may use another version."""
        frame: WireModel = FrameError(error=error.info)
        if self._page is not None:
            self._page.send(FrameError(error=error.info))
            return
        await self.send(_text(_welcome()))
        await self.send(_text(frame))


def _welcome() -> Welcome:
    """Return the answer to a hello."""
    now_ms = round(SystemClock().now().timestamp() * 1000)
    return Welcome(wire_version=WIRE_VERSION, server_version=__version__, now_ms=now_ms)


@cache
def page_frames() -> TypeAdapter[PageFrame]:
    """Return the parser of page frames; building it takes milliseconds."""
    return TypeAdapter(PageFrame)


def _text(frame: WireModel) -> str:
    return encode_model(frame)[1]
