"""``ChatPanel``: the AI colleague in a cell's output. Exported by the package."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from typing import Any

from jupyter_ai_shoulders.client.lazy_imports import pydantic
from jupyter_ai_shoulders.kernel.panel.lazy_protocol import protocol

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise ImportError(
        'ChatPanel needs anywidget. Install it: pip install "jupyter-ai-shoulders[kernel]"'
    ) from error

from jupyter_ai_shoulders.client.client import Client
from jupyter_ai_shoulders.client.kernel_id import own_kernel_id
from jupyter_ai_shoulders.client.turn_reader import Answer
from jupyter_ai_shoulders.kernel.magic_turn import MagicTurn, notebook_context
from jupyter_ai_shoulders.kernel.panel import bundle
from jupyter_ai_shoulders.kernel.panel.output_area import (
    CommHandler,
    PanelTurnDisplay,
    UpdatableOutput,
    handle_messages_in_subshell,
)
from jupyter_ai_shoulders.kernel.panel.saved_transcript import SavedTranscript
from jupyter_ai_shoulders.kernel.panel.server_relay import ServerRelay
from jupyter_ai_shoulders.kernel.panel.transcript_rendering import ended_turns

VIEW_TYPE = "application/vnd.jupyter.widget-view+json"
_PLAIN = "The AI panel. It is live while its kernel runs."


class ChatPanel(anywidget.AnyWidget):
    """The chat panel of the AI colleague in a notebook's output.

    The same panel as in JupyterLab, for every front end that shows widgets. The side panel shows
    the conversation too, and it is kept as text below the panel.
    """

    _esm = bundle.LOADER
    transcript = traitlets.Unicode("").tag(sync=True)
    """The conversation as HTML without scripts, for notebooks whose kernel does not run."""
    transcript_name = traitlets.Unicode("").tag(sync=True)
    """Name of the output that shows the same."""
    session_id = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    """The shown conversation."""
    notebook = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    """Path of the panel's notebook; known once a page shows the panel."""

    def __init__(
        self, session: str | None = None, *, client: Client | None = None, keep: bool = True
    ) -> None:
        """``session`` continues a conversation; its server is found as ``Client`` does.

        Without ``keep`` the notebook stores no transcript, which readers of the notebook would see.
        """
        self._sending = threading.Lock()
        self._client = client or Client()
        self._relay = ServerRelay(self._client, self._post)
        name = secrets.token_hex(8)
        self._keeps = keep
        self._record = SavedTranscript(name, self._client, UpdatableOutput(name), self._hold)
        super().__init__(session_id=session, transcript_name=name)
        self.on_msg(self._on_message)
        self.observe(self._refresh, "session_id")

    def ask(self, prompt: str, **options: Any) -> Answer:
        """Ask in the panel's conversation, wait for the answer and return it.

        A new conversation has no tools unless ``tools="enabled"``; ``options`` are those of
        ``Client.stream``. Raises as ``Client.ask`` does; an interrupt stops the turn.
        """
        session = self.session_id
        if session is None:
            tools = options.pop("tools", "disabled")
            session = self.session_id = self._client.new_session(tools=tools).id
        options.setdefault("context", notebook_context(self._client))
        try:
            turn = MagicTurn(
                lambda: self._client.stream(prompt, session, **options),
                PanelTurnDisplay(),
                own_kernel_id(),
            )
            return turn.answer()
        except KeyboardInterrupt:
            self._client.cancel(session)  # even before the turn is followed
            raise
        finally:
            if self._keeps:
                self._record.write(session)

    def open(self) -> None:
        """Open the widget's comm; called by ``ipywidgets``."""
        super().open()
        handle: CommHandler = getattr(self, "_handle_msg")  # noqa: B009 - ipywidgets says no types
        handle_messages_in_subshell(self.comm, handle)

    def close(self) -> None:
        """Remove the panel from the page and close its connections; the conversation stays."""
        self._relay.close()
        self._record.close()
        super().close()

    def _ipython_display_(self, **_: Any) -> None:
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        UpdatableOutput().show({VIEW_TYPE: view, "text/plain": _PLAIN})
        if self._keeps:
            self._record.show(self.session_id)

    def _on_message(self, _widget: Any, content: Any, _buffers: Any) -> None:
        try:
            message = protocol.PAGE_MESSAGES.validate_python(content)
        except pydantic.ValidationError:
            self.log.warning("The AI panel's page said something unknown: %.200r", content)
            return
        waits = threading.current_thread() is threading.main_thread()
        self._relay.take(message, waits=waits)
        if isinstance(message, protocol.ViewHello):
            self._refresh()
        elif isinstance(message, protocol.Load):
            self._record.repeat()

    def _post(self, message: protocol.KernelMessage, buffers: Sequence[bytes]) -> None:
        if isinstance(message, protocol.Ready):
            self.notebook = message.notebook
        with self._sending:
            self.send(message.model_dump(), list(buffers) or None)
        if isinstance(message, protocol.Frame) and self.session_id in ended_turns(message.text):
            self._refresh()

    def _hold(self, page: str) -> None:
        self.transcript = page

    def _refresh(self, _change: Any = None) -> None:
        if self._keeps:
            self._record.refresh(self.session_id)
