"""``Client``: the AI colleague of a Jupyter server, for notebooks and scripts.

Exported by the package; the magics and the command line use it too.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from jupyter_ai_shoulders.client import sdk_clients
from jupyter_ai_shoulders.client.connection import Connection
from jupyter_ai_shoulders.client.errors import ClientError
from jupyter_ai_shoulders.client.kernel_id import own_kernel_id
from jupyter_ai_shoulders.client.sdk_clients import ProxyKey
from jupyter_ai_shoulders.client.server_discovery import find_server
from jupyter_ai_shoulders.client.turn import Turn
from jupyter_ai_shoulders.client.turn_reader import Answer
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    CreateSession,
    PatchSession,
    SendMessage,
    StartRun,
)
from jupyter_ai_shoulders.wire.api.responses import (
    EventPage,
    KernelNotebook,
    MessageAccepted,
    ModelList,
    ProxySecret,
    SessionList,
    Status,
)
from jupyter_ai_shoulders.wire.api.settings import Settings
from jupyter_ai_shoulders.wire.events import ApprovalScope, TurnStart
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, ModelId, SessionId
from jupyter_ai_shoulders.wire.messages import Attachment, MessageContext
from jupyter_ai_shoulders.wire.sessions import (
    Mode,
    Session,
    SessionKind,
    SessionSource,
    Toolset,
    ToolsMode,
)
from jupyter_ai_shoulders.wire.usage import Usage, UsageBy


class Client:
    """The AI colleague of a Jupyter server.

    Inside a kernel it finds its own server; elsewhere the one that is running, or the one at
    ``url``. Nothing is sent before the first call. Conversations are shared with the side panel.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        environ: Mapping[str, str] = os.environ,
        connection: Connection | None = None,
    ) -> None:
        """``connection`` is for tests; by default the first call looks for the server."""
        self._url = url
        self._token = token
        self._environ = environ
        self._open = connection
        self._key: ProxyKey | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        if self._open is not None:
            self._open.close()

    @property
    def connection(self) -> Connection:
        """The connection to the server. Raises ``ServerNotFound``."""
        if self._open is None:
            address = find_server(self._url, self._token, environ=self._environ)
            self._open = Connection(address)
        return self._open

    # conversations

    def ask(self, prompt: str, session: str | None = None, **options: Any) -> Answer:
        """Send a message, wait for the end of its turn and return the answer.

        ``session`` continues a conversation; ``options`` are those of ``stream``. Raises
        ``Waiting`` when the turn needs the user, ``BudgetReached``, ``TurnFailed``, ``Refused``,
        ``Unreachable``.
        """
        return self.stream(prompt, session, **options).answer()

    def stream(
        self,
        prompt: str,
        session: str | None = None,
        *,
        model: str | None = None,
        mode: Mode | None = None,
        tools: ToolsMode = "disabled",
        toolset: Toolset | None = None,
        attachments: Sequence[Attachment] = (),
        context: MessageContext | None = None,
        patient: bool = False,
    ) -> Turn:
        """Send a message and return its turn; iterate over it for its events.

        A new conversation has no tools unless ``tools="enabled"``; calls then ask as in the side
        panel, which also shows the conversation. ``patient`` waits for an answer given there.
        """
        if session is None:
            session = self.new_session(model=model, mode=mode, tools=tools, toolset=toolset).id
        message = SendMessage(
            id=MessageId(f"msg_{secrets.token_hex(12)}"),
            text=prompt,
            attachments=tuple(attachments),
            context=context,
            model=None if model is None else ModelId(model),
            mode=mode,
        )
        path = f"sessions/{session}/messages"
        accepted = self.connection.post(path, message, MessageAccepted)
        return Turn(
            self.connection, SessionId(session), accepted.seq - 1, message.id, patient=patient
        )

    def run(
        self,
        prompt: str,
        *,
        model: str | None = None,
        mode: Mode | None = None,
        toolset: Toolset | None = None,
        attachments: Sequence[Attachment] = (),
        interactive: bool | None = None,
        external_key: str | None = None,
    ) -> Turn:
        """Start a background run, with tools; return its turn. It continues when nobody follows it.

        The same ``external_key`` continues the same conversation. Unless ``interactive``, calls
        that need approval are refused, and the model learns why.
        """
        message_id = MessageId(f"msg_{secrets.token_hex(12)}")
        command = StartRun(
            prompt=prompt,
            model=None if model is None else ModelId(model),
            mode=mode,
            toolset=toolset,
            attachments=tuple(attachments),
            interactive=interactive,
            external_key=external_key,
            id=message_id,
        )
        session = self.connection.post("runs", command, Session)
        return Turn(self.connection, session.id, 0, message_id)

    def follow(self, session: str, *, patient: bool = False) -> Turn:
        """Return the last turn of a conversation, from its start."""
        session_id = SessionId(session)
        after, start = 0, 0
        while True:
            page = self.connection.get(f"sessions/{session}/events", EventPage, after=after)
            starts = [event.seq for event in page.events if isinstance(event, TurnStart)]
            start = starts[-1] if starts else start
            if not page.has_more:
                before = max(start - 1, 0)
                return Turn(
                    self.connection, session_id, before, patient=patient, known=page.last_seq
                )
            after = page.events[-1].seq

    def approve(
        self,
        session: str,
        call_id: str,
        *,
        allow: bool = True,
        scope: ApprovalScope = "once",
        feedback: str | None = None,
    ) -> None:
        """Decide on a waiting call. Raises ``Refused`` (409 when it was already decided)."""
        command = AnswerApproval(
            decision="allow" if allow else "deny", scope=scope, feedback=feedback
        )
        self.connection.send("POST", f"sessions/{session}/approvals/{CallId(call_id)}", command)

    def cancel(self, session: str) -> None:
        """Stop the running turn of a conversation, if any."""
        self.connection.send("POST", f"sessions/{session}/cancel")

    def list(
        self, *, kind: SessionKind | None = None, text: str | None = None, limit: int = 50
    ) -> tuple[Session, ...]:
        """Return conversations, newest first."""
        query = {"kind": kind, "text": text, "limit": limit}
        return self.connection.get("sessions", SessionList, **query).sessions

    def session(self, session: str) -> Session:
        """Return a conversation. Raises ``Refused`` (404)."""
        return self.connection.get(f"sessions/{session}", Session)

    def new_session(
        self,
        *,
        kind: SessionKind = "kernel",
        model: str | None = None,
        mode: Mode | None = None,
        tools: ToolsMode = "enabled",
        toolset: Toolset | None = None,
        interactive: bool | None = None,
        source: SessionSource | None = None,
    ) -> Session:
        """Start a conversation."""
        command = CreateSession(
            kind=kind,
            model=None if model is None else ModelId(model),
            mode=mode,
            tools=tools,
            toolset=toolset,
            interactive=interactive,
            source=source,
        )
        return self.connection.post("sessions", command, Session)

    def change_session(self, session: str, command: PatchSession) -> Session:
        """Change a conversation's title, model, mode or tools."""
        response = self.connection.send("PATCH", f"sessions/{session}", command)
        return Session.model_validate_json(response.content)

    def export(self, session: str, format: Literal["md", "jsonl", "ipynb"] = "md") -> str:  # noqa: A002 the word of the API
        """Return a conversation as text."""
        return self.connection.text(f"sessions/{session}/export", format=format)

    # the server

    def status(self) -> Status:
        """Return the server's status."""
        return self.connection.get("status", Status)

    def models(self) -> ModelList:
        """Return the known models, and why some are unavailable."""
        return self.connection.get("models", ModelList)

    def settings(self) -> Settings:
        """Return the preferences that apply."""
        return self.connection.get("settings", Settings)

    def usage(self, by: UsageBy = "day") -> Usage:
        """Return this month's usage, and the spending limits."""
        return self.connection.get("usage", Usage, by=by)

    def notebook(self) -> str | None:
        """Return this kernel's notebook, None if it has none."""
        kernel_id = own_kernel_id(self._environ)
        if kernel_id is None:
            return None
        return self.connection.get(f"kernels/{kernel_id}/notebook", KernelNotebook).path

    # models without keys

    @property
    def proxy(self) -> ProxyKey:
        """The model proxy and its key: the kernel's secret, else the server's token.

        Raises ``ClientError`` where there is neither.
        """
        if self._key is None:
            given = None if self._url else sdk_clients.kernel_proxy_key(self._environ)
            self._key = given or self._proxy_of_server()
        return self._key

    def env(self) -> dict[str, str]:
        """Return variables with which vendors' SDKs and tools call models through the server.

        ``os.environ.update(Client().env())`` sets them for everything in this kernel.
        """
        return self.proxy.variables

    def openai(self, *, asynchronous: bool = False, **options: Any) -> Any:
        """Return ``openai.OpenAI`` (or ``AsyncOpenAI``) that calls models through the server.

        Any configured model can be used; the budget applies. ``options`` go to the SDK.
        """
        return sdk_clients.openai_client(self.proxy, asynchronous=asynchronous, **options)

    def anthropic(self, *, asynchronous: bool = False, **options: Any) -> Any:
        """Return ``anthropic.Anthropic`` (or ``AsyncAnthropic``), as ``openai`` does."""
        return sdk_clients.anthropic_client(self.proxy, asynchronous=asynchronous, **options)

    def _proxy_of_server(self) -> ProxyKey:
        address = self.connection.address
        url = f"{address.url}{sdk_clients.PROXY_PATH}"
        kernel_id = own_kernel_id(self._environ)
        if kernel_id is not None and not self._url:
            path = f"kernels/{kernel_id}/proxy-secret"
            try:
                return ProxyKey(url, self.connection.post(path, None, ProxySecret).secret)
            except ClientError:
                if not address.token:
                    raise
        if address.token:
            return ProxyKey(url, address.token)
        raise ClientError(
            f"{address.url} is open without a token, and this process is none of its kernels, so "
            "there is nothing to give to an SDK as its key. Call models from a notebook's kernel, "
            "or start the server with a token."
        )
