"""``Client``: the AI colleague of a Jupyter server, for notebooks and scripts.

Exported by the package; the magics and the command line use it too.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Literal, Self

from jupyter_ai_shoulders.client import sdk_clients
from jupyter_ai_shoulders.client.agent_database import (
    ReadOnlyConnection,
    open_agent_database,
)
from jupyter_ai_shoulders.client.connection import Connection
from jupyter_ai_shoulders.client.errors import ClientError
from jupyter_ai_shoulders.client.kernel_id import own_kernel_id
from jupyter_ai_shoulders.client.lazy_imports import wire
from jupyter_ai_shoulders.client.sdk_clients import ProxyKey
from jupyter_ai_shoulders.client.server_discovery import find_server
from jupyter_ai_shoulders.client.turn import Turn
from jupyter_ai_shoulders.client.turn_reader import Answer
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, ModelId, SessionId


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
        mode: wire.Mode | None = None,
        tools: wire.ToolsMode = "disabled",
        toolset: wire.Toolset | None = None,
        attachments: Sequence[wire.Attachment] = (),
        context: wire.MessageContext | None = None,
        patient: bool = False,
    ) -> Turn:
        """Send a message and return its turn; iterate over it for its events.

        A new conversation has no tools unless ``tools="enabled"``; calls then ask as in the side
        panel, which also shows the conversation. ``patient`` waits for an answer given there.
        """
        if session is None:
            session = self.new_session(model=model, mode=mode, tools=tools, toolset=toolset).id
        message = wire.SendMessage(
            id=MessageId(f"msg_{secrets.token_hex(12)}"),
            text=prompt,
            attachments=tuple(attachments),
            context=context,
            model=None if model is None else ModelId(model),
            mode=mode,
        )
        path = f"sessions/{session}/messages"
        accepted = self.connection.post(path, message, wire.MessageAccepted)
        return Turn(
            self.connection, SessionId(session), accepted.seq - 1, message.id, patient=patient
        )

    def run(
        self,
        prompt: str,
        *,
        model: str | None = None,
        mode: wire.Mode | None = None,
        toolset: wire.Toolset | None = None,
        attachments: Sequence[wire.Attachment] = (),
        interactive: bool | None = None,
        external_key: str | None = None,
    ) -> Turn:
        """Start a background run, with tools; return its turn. It continues when nobody follows it.

        The same ``external_key`` continues the same conversation. Unless ``interactive``, calls
        that need approval are refused, and the model learns why.
        """
        message_id = MessageId(f"msg_{secrets.token_hex(12)}")
        command = wire.StartRun(
            prompt=prompt,
            model=None if model is None else ModelId(model),
            mode=mode,
            toolset=toolset,
            attachments=tuple(attachments),
            interactive=interactive,
            external_key=external_key,
            id=message_id,
        )
        session = self.connection.post("runs", command, wire.Session)
        return Turn(self.connection, session.id, 0, message_id)

    def follow(self, session: str, *, patient: bool = False) -> Turn:
        """Return the last turn of a conversation, from its start."""
        session_id = SessionId(session)
        after, start = 0, 0
        while True:
            page = self.connection.get(f"sessions/{session}/events", wire.EventPage, after=after)
            starts = [event.seq for event in page.events if isinstance(event, wire.TurnStart)]
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
        scope: wire.ApprovalScope = "once",
        feedback: str | None = None,
    ) -> None:
        """Decide on a waiting call. Raises ``Refused`` (409 when it was already decided)."""
        command = wire.AnswerApproval(
            decision="allow" if allow else "deny", scope=scope, feedback=feedback
        )
        self.connection.send("POST", f"sessions/{session}/approvals/{CallId(call_id)}", command)

    def cancel(self, session: str) -> None:
        """Stop the running turn of a conversation, if any."""
        self.connection.send("POST", f"sessions/{session}/cancel")

    def list(
        self, *, kind: wire.SessionKind | None = None, text: str | None = None, limit: int = 50
    ) -> tuple[wire.Session, ...]:
        """Return conversations, newest first."""
        query = {"kind": kind, "text": text, "limit": limit}
        return self.connection.get("sessions", wire.SessionList, **query).sessions

    def session(self, session: str) -> wire.Session:
        """Return a conversation. Raises ``Refused`` (404)."""
        return self.connection.get(f"sessions/{session}", wire.Session)

    def new_session(
        self,
        *,
        kind: wire.SessionKind = "kernel",
        model: str | None = None,
        mode: wire.Mode | None = None,
        tools: wire.ToolsMode = "enabled",
        toolset: wire.Toolset | None = None,
        interactive: bool | None = None,
        source: wire.SessionSource | None = None,
    ) -> wire.Session:
        """Start a conversation."""
        command = wire.CreateSession(
            kind=kind,
            model=None if model is None else ModelId(model),
            mode=mode,
            tools=tools,
            toolset=toolset,
            interactive=interactive,
            source=source,
        )
        return self.connection.post("sessions", command, wire.Session)

    def change_session(self, session: str, command: wire.PatchSession) -> wire.Session:
        """Change a conversation's title, model, mode or tools."""
        response = self.connection.send("PATCH", f"sessions/{session}", command)
        return wire.Session.model_validate_json(response.content)

    def export(self, session: str, format: Literal["md", "jsonl", "ipynb"] = "md") -> str:  # noqa: A002 the word of the API
        """Return a conversation as text."""
        return self.connection.text(f"sessions/{session}/export", format=format)

    def search(
        self,
        query: str,
        *,
        path: str = "",
        kind: wire.DocumentKind | None = None,
        limit: int = 20,
        wait: float = 10.0,
    ) -> wire.SearchResults:
        """Return the places of the workspace that match best.

        ``path`` is a file or folder to search in. ``wait`` is how many seconds to wait for an index
        that is being built; ``warning`` tells what is missing after it.
        """
        asked = {"q": query, "path": path, "kind": kind, "limit": limit, "wait_s": wait}
        return self.connection.get("search", wire.SearchResults, **asked)

    def agent_database(self) -> ReadOnlyConnection:
        """Return a read-only SQLite connection to the agent's database, for ``pandas.read_sql``.

        A ``with`` block closes it. Raises ``ClientError`` if it is off, or on another machine.
        """
        return open_agent_database(self.connection.get("agent-database", wire.AgentDatabase))

    # the server

    def status(self) -> wire.Status:
        """Return the server's status."""
        return self.connection.get("status", wire.Status)

    def models(self) -> wire.ModelList:
        """Return the known models, and why some are unavailable."""
        return self.connection.get("models", wire.ModelList)

    def settings(self) -> wire.Settings:
        """Return the preferences that apply."""
        return self.connection.get("settings", wire.Settings)

    def usage(self, by: wire.UsageBy = "day", first_day: date | None = None) -> wire.Usage:
        """Return the usage from a day on (this month's by default), and the spending limits."""
        days = {} if first_day is None else {"from": first_day.isoformat()}
        return self.connection.get("usage", wire.Usage, by=by, **days)

    def notebook(self) -> str | None:
        """Return this kernel's notebook, None if it has none."""
        kernel_id = own_kernel_id(self._environ)
        if kernel_id is None:
            return None
        return self.connection.get(f"kernels/{kernel_id}/notebook", wire.KernelNotebook).path

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
                return ProxyKey(url, self.connection.post(path, None, wire.ProxySecret).secret)
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
