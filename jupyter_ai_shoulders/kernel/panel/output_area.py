"""The panel's cell output and comm. Called by ``widget``.

The only module that knows the peculiarities of ipykernel and its comms.
"""

from __future__ import annotations

import sys
from typing import Any, Protocol

from IPython.display import DisplayHandle

from jupyter_ai_shoulders.client.errors import ClientError
from jupyter_ai_shoulders.kernel.answer_rendering import Bundle
from jupyter_ai_shoulders.wire.hidden_characters import legible


class UpdatableOutput:
    """An output that is updated by its display id, from any thread."""

    def __init__(self, display_id: str | None = None) -> None:
        """Nothing is shown yet."""
        self._handle: Any = DisplayHandle(display_id)

    def show(self, data: Bundle) -> None:
        """See ``TranscriptOutput.show``."""
        self._handle.display(data, raw=True)

    def update(self, data: Bundle) -> None:
        """See ``TranscriptOutput.update``."""
        self._handle.update(data, raw=True)

    def repeat(self, data: Bundle) -> None:
        """See ``TranscriptOutput.repeat``. Uses an id that no page knows, so that no page redraws
        its output.
        """
        DisplayHandle().update(data, raw=True)


class PanelTurnDisplay:
    """Turn display of a cell whose conversation the panel shows; see ``magic_turn.TurnDisplay``."""

    def show(self, text: str) -> None:
        """Do nothing: the panel shows the answer."""

    def write_line(self, line: str) -> None:
        """Print a line."""
        sys.stdout.write(f"{legible(line)}\n")
        sys.stdout.flush()

    def ask(self, prompt: str, *, password: bool = False) -> str:  # noqa: ARG002 - the port's
        """Raise ``ClientError``: the panel asks the user."""
        raise ClientError(
            f"{prompt} The panel and the side panel ask this; the turn waits for the answer there."
        )


class CommHandler(Protocol):
    """Handles a comm's message."""

    def __call__(self, msg: dict[str, Any]) -> None:
        """Called in the shell or subshell of the message."""
        ...


def handle_messages_in_subshell(comm: Any, handle: CommHandler) -> None:
    """Handle the page's messages in the subshell the page chose, also while a cell runs.

    ipykernel 7.4 sends a comm's messages to the shell that used the comm last, which is the one
    that runs the cell (``BaseComm._reply_subshell_for``); we answer in our own threads, so the
    page's choice is right. Also, each message makes IPython believe that a cell ends
    (``BaseComm.handle_msg``), so that it would draw unfinished figures of the running cell.
    """
    comm._reply_subshell_for = _as_the_page_chose  # noqa: SLF001 - the hook has no public name
    comm.handle_msg = handle


def _as_the_page_chose(_data: object, subshell_id: str | None) -> str | None:
    return subshell_id
