"""Keeps the panel's conversation in the notebook: an output below the panel. Made by ``widget``.

An output of its own, because front ends make a widget's view anew when its output is updated, and
the user types in it. While a view is there it hides this output (``loader.js``).

A page knows the output's display id only if it ran the cell. One that was loaded later and has our
lab extension finds the output by the class in it (``labextension/src/bridge/transcripts.ts``).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from jupyter_ai_shoulders.client.client import Client
from jupyter_ai_shoulders.client.errors import ClientError
from jupyter_ai_shoulders.kernel.panel.transcript import bundle, page, shortened
from jupyter_ai_shoulders.kernel.panel.workers import Workers
from jupyter_ai_shoulders.kernel.present import Bundle

LOOK_SECONDS = 2.0
"""How long a cell waits for what the server says before it shows the panel without."""
NOTHING = "*No conversation yet: this is where the AI panel keeps it.*"
_NO_SERVER = "*The AI panel has no server.* {}"


class Output(Protocol):
    """Where the transcript is shown."""

    def show(self, data: Bundle) -> None:
        """Show it in the running cell's output."""
        ...

    def update(self, data: Bundle) -> None:
        """Change it wherever it is shown; may be called in any thread."""
        ...

    def repeat(self, data: Bundle) -> None:
        """Say it to pages that find the output by what is in it; as ``update``."""
        ...


class Record:
    """The transcript of one panel."""

    def __init__(
        self, name: str, client: Client, output: Output, changed: Callable[[str], None]
    ) -> None:
        """``changed`` hears the transcript as HTML, in a thread of ours."""
        self._name = name
        self._client = client
        self._output = output
        self._changed = changed
        self._worker = Workers(1)
        self._lock = threading.Lock()
        self._text = NOTHING
        self._has_conversation = False
        self._shown = False

    def show(self, session_id: str | None) -> None:
        """Show the transcript below the panel; waits a little for the server."""
        read = threading.Event()
        self._worker.do(lambda: self._read(session_id))
        self._worker.do(read.set)
        read.wait(LOOK_SECONDS)
        with self._lock:
            self._output.show(bundle(self._text, self._name))
            self._shown = True

    def refresh(self, session_id: str | None) -> None:
        """Have the transcript made anew; returns at once."""
        self._worker.do(lambda: self._read(session_id))

    def repeat(self) -> None:
        """Tell a page that has just been loaded what the output should show; returns at once.

        Its notebook may have been saved before the last answer.
        """
        self._worker.do(self._say_again)

    def write(self, session_id: str) -> None:
        """Make the transcript anew and return when it is shown."""
        self._read(session_id)

    def close(self) -> None:
        """End the thread."""
        self._worker.close()

    def _read(self, session_id: str | None) -> None:
        try:
            if session_id is None:
                self._client.status()
                self._put(NOTHING)
            else:
                self._put(shortened(self._client.export(session_id)), conversation=True)
        except ClientError as error:
            if not self._has_conversation:
                self._put(_NO_SERVER.format(error))

    def _say_again(self) -> None:
        with self._lock:
            if self._shown:
                self._output.repeat(bundle(self._text, self._name))

    def _put(self, text: str, *, conversation: bool = False) -> None:
        with self._lock:
            self._has_conversation = conversation
            if text == self._text:
                return
            self._text = text
            if self._shown:
                self._output.update(bundle(text, self._name))
        self._changed(page(text, self._name))
