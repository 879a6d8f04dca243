"""Keeps the panel's conversation in the notebook: an output below the panel. Made by ``widget``.

It is a separate output, because front ends recreate a widget's view when its output is updated, and
the user types in it. While a view exists it hides this output (``loader.js``).

A page knows the output's display id only if it ran the cell. A page that was loaded later and has
our lab extension finds the output by the class in it (``savedTranscripts.ts`` in
``labextension/src/live-documents/notebooks``).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from jupyter_ai_shoulders.client.client import Client
from jupyter_ai_shoulders.client.errors import ClientError
from jupyter_ai_shoulders.kernel.answer_rendering import Bundle
from jupyter_ai_shoulders.kernel.panel.transcript_rendering import (
    transcript_bundle,
    transcript_html,
    truncate_transcript,
)
from jupyter_ai_shoulders.kernel.panel.worker_threads import WorkerThreads

REFRESH_SECONDS = 2.0
"""How long a cell waits for the server before it shows the panel without the transcript."""
NOTHING = "*No conversation yet: this is where the AI panel keeps it.*"
_NO_SERVER = "*The AI panel has no server.* {}"


class TranscriptOutput(Protocol):
    """Where the transcript is shown."""

    def show(self, data: Bundle) -> None:
        """Show it in the running cell's output."""
        ...

    def update(self, data: Bundle) -> None:
        """Update it wherever it is shown; may be called in any thread."""
        ...

    def repeat(self, data: Bundle) -> None:
        """Send it to pages that find the output by its content; as ``update``."""
        ...


class SavedTranscript:
    """The transcript of one panel."""

    def __init__(
        self, name: str, client: Client, output: TranscriptOutput, changed: Callable[[str], None]
    ) -> None:
        """``changed`` receives the transcript as HTML, in a thread of ours."""
        self._name = name
        self._client = client
        self._output = output
        self._changed = changed
        self._worker = WorkerThreads(1)
        self._lock = threading.Lock()
        self._text = NOTHING
        self._has_conversation = False
        self._shown = False

    def show(self, session_id: str | None) -> None:
        """Show the transcript below the panel; waits briefly for the server."""
        read = threading.Event()
        self._worker.submit(lambda: self._read(session_id))
        self._worker.submit(read.set)
        read.wait(REFRESH_SECONDS)
        with self._lock:
            self._output.show(transcript_bundle(self._text, self._name))
            self._shown = True

    def refresh(self, session_id: str | None) -> None:
        """Update the transcript in the background."""
        self._worker.submit(lambda: self._read(session_id))

    def repeat(self) -> None:
        """Send the current transcript to a newly loaded page, in the background.

        Its notebook may have been saved before the last answer.
        """
        self._worker.submit(self._refresh)

    def write(self, session_id: str) -> None:
        """Update the transcript and return when it is shown."""
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
                self._put(truncate_transcript(self._client.export(session_id)), conversation=True)
        except ClientError as error:
            if not self._has_conversation:
                self._put(_NO_SERVER.format(error))

    def _refresh(self) -> None:
        with self._lock:
            if self._shown:
                self._output.repeat(transcript_bundle(self._text, self._name))

    def _put(self, text: str, *, conversation: bool = False) -> None:
        with self._lock:
            self._has_conversation = conversation
            if text == self._text:
                return
            self._text = text
            if self._shown:
                self._output.update(transcript_bundle(text, self._name))
        self._changed(transcript_html(text, self._name))
