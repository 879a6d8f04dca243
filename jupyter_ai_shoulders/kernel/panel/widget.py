"""``ChatPanel``: the AI colleague in a cell's output. Exported by the package."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise ImportError(
        'ChatPanel needs anywidget. Install it: pip install "jupyter-ai-shoulders[kernel]"'
    ) from error

from jupyter_ai_shoulders.client.client import Client
from jupyter_ai_shoulders.kernel.panel import bundle
from jupyter_ai_shoulders.kernel.panel.protocol import PAGE_MESSAGES, KernelMessage
from jupyter_ai_shoulders.kernel.panel.relay import Relay


class ChatPanel(anywidget.AnyWidget):
    """The chat panel of the AI colleague, in a notebook's output."""

    _esm = bundle.LOADER
    transcript = traitlets.Unicode("").tag(sync=True)
    """The conversation as HTML without scripts, for notebooks whose kernel does not run."""
    session_id = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    """The conversation that is shown."""
    notebook = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    """Path of the notebook the panel is attached to."""

    def __init__(self, session: str | None = None, *, client: Client | None = None) -> None:
        """``session`` goes on with a conversation. Finds its server as ``Client`` does."""
        self._sending = threading.Lock()
        self._client = client or Client()
        self._relay = Relay(self._client, self._post)
        super().__init__(session_id=session)
        self.on_msg(self._hear)

    def _hear(self, _widget: Any, content: Any, _buffers: Any) -> None:
        try:
            message = PAGE_MESSAGES.validate_python(content)
        except ValidationError:
            self.log.warning("The AI panel's page said something unknown: %.200r", content)
            return
        waits = threading.current_thread() is threading.main_thread()
        self._relay.take(message, waits=waits)

    def _post(self, message: KernelMessage, buffers: Sequence[bytes]) -> None:
        with self._sending:
            self.send(message.model_dump(), list(buffers) or None)

    def close(self) -> None:
        """Take the panel out of the page and close its connections; the conversation stays."""
        self._relay.close()
        super().close()
