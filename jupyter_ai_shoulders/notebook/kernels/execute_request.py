"""One execute request: nbclient turns its messages into outputs.

Made by ``notebook.execution.cell_runner``. nbclient's own loop (``async_execute_cell``) is not
used: cancelling it reports a dead kernel, it treats an aborted request as success, and it ignores
outputs that come later than four seconds after the reply. Its processing of messages (clear_output,
Output widgets) is used.

Importing this module imports nbclient (0.15 s), so it is imported on first use.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, cast

from jupyter_client.client import KernelClient
from nbclient.client import NotebookClient
from nbclient.exceptions import CellExecutionComplete
from nbformat import NotebookNode
from nbformat.validator import NotebookValidationError

from jupyter_ai_shoulders.notebook.kernels.connection import (
    KernelConnection,
    Message,
    message_status,
)
from jupyter_ai_shoulders.notebook.outputs.collector import OutputCollector
from jupyter_ai_shoulders.notebook.outputs.run_log import RunLog
from jupyter_ai_shoulders.wire.ids import CellId

LOST_SECONDS = 4.0
"""Seconds of silence after the reply or the idle status until the other counts as lost (as
nbclient).
"""


_FIELDS: Mapping[str, tuple[str, ...]] = {
    "stream": ("name", "text"),
    "display_data": ("data", "metadata"),
    "execute_result": ("data", "metadata", "execution_count"),
    "error": ("ename", "evalue", "traceback"),
}
"""The fields of each message that nbformat keeps (nbformat v4 schema, Jupyter messaging 5.4)."""


class MessageReader(NotebookClient):
    """nbclient attached to a live kernel, for its processing of messages only.

    One per connection: it remembers the Output widgets made through it.
    """

    def __init__(self, connection: KernelConnection) -> None:
        super().__init__(
            NotebookNode(cells=[], metadata={}),
            km=connection.handle.manager,
            record_timing=False,
            store_widget_state=False,  # the page's widget manager stores it
        )
        self.widget_state = defaultdict(dict)  # Output widgets write theirs all the same
        self.kc = cast("KernelClient", _WidgetClient(connection))
        self._request: CellRequest | None = None

    def read(self, message: Message, request: CellRequest) -> None:
        """Apply a message to the request's outputs."""
        self._request = request
        try:
            self.process_message(message, request.cell, 0)
        except NotebookValidationError as error:  # of an Output widget's content
            raise ValueError(f"nbformat does not know such an output: {error}") from error
        finally:
            self._request = None

    def output(
        self,
        outs: list[NotebookNode],
        msg: dict[str, Any],
        display_id: str | None,
        cell_index: int,
    ) -> NotebookNode | None:
        """Add an output to the request, unless an Output widget takes it."""
        request = self._request
        if request is None or self.output_hook_stack[msg["parent_header"].get("msg_id")]:
            return super().output(outs, msg, display_id, cell_index)
        if self.clear_before_next_output:
            self.clear_before_next_output = False
            request.outputs.clear()
        request.add(output_of(msg), display_id)
        return None

    def clear_output(self, outs: list[NotebookNode], msg: dict[str, Any], cell_index: int) -> None:
        """Clear the request's outputs, unless an Output widget is cleared or the clear waits."""
        hooked = bool(self.output_hook_stack[msg["parent_header"].get("msg_id")])
        super().clear_output(outs, msg, cell_index)
        if self._request is not None and not hooked and not self.clear_before_next_output:
            self._request.outputs.clear()


def output_of(message: Message) -> Mapping[str, Any]:
    """Return a message's output in nbformat's form. Raises ``ValueError`` for other messages.

    nbformat's own function validates against a schema, which is the largest cost of a cell that
    prints in a loop, and refuses outputs that the lab shows: altair's plots are objects under a
    type that does not end in ``+json``.
    """
    kind, content = str(message["msg_type"]), message["content"]
    fields = _FIELDS.get(kind)
    if fields is None:
        raise ValueError(f"a message of type {kind} is no output")
    return {"output_type": kind, **{field: content[field] for field in fields}}


class _WidgetClient:
    """The part of a kernel client that nbclient's Output widgets need."""

    def __init__(self, connection: KernelConnection) -> None:
        self.session = connection.session
        self.shell_channel = self
        self._connection = connection

    def send(self, message: Message) -> None:
        """Send on the shell channel."""
        self._connection.send(message)


class CellRequest:
    """The states of one request: queued, running, finished. Its owner waits on the events."""

    def __init__(self, reader: MessageReader, outputs: OutputCollector, run_log: RunLog) -> None:
        self.outputs = outputs
        self.cell = NotebookNode(cell_type="code", metadata={}, outputs=[])
        self.activity = asyncio.Event()
        """Set by each message; cleared by the owner."""
        self.finished = asyncio.Event()
        self.started = False
        self.reply: dict[str, Any] | None = None
        """Content of the reply; None when it was lost or the kernel died."""
        self.on_display: Callable[[str, Mapping[str, Any]], None] = lambda _id, _output: None
        """Receives updates of displays, which may be in earlier cells."""
        self._reader = reader
        self._log = run_log
        self._idle = False
        self._timer: asyncio.TimerHandle | None = None
        self._forget: Callable[[], None] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether the kernel is running this request now, so that an interrupt hits it."""
        return self.started and not self._idle and self.reply is None

    @property
    def execution_count(self) -> int | None:
        """The prompt number the kernel gave."""
        count: int | None = self.cell.get("execution_count")
        return count

    def send(
        self,
        connection: KernelConnection,
        source: str,
        cell_id: CellId,
        ask: Callable[[Message], None] | None = None,
    ) -> None:
        """Send the request to the kernel's queue; ``ask`` receives its questions for input."""
        self._reader.clear_before_next_output = False
        message_id = connection.execute(source, cell_id, self, ask and self._asks(ask))
        self._forget = lambda: connection.forget(message_id)

    def close(self) -> None:
        """Ignore further messages."""
        if self._forget is not None:
            self._forget()
        if self._timer is not None:
            self._timer.cancel()
        self.finished.set()
        self.activity.set()

    def add(self, output: Mapping[str, Any], display_id: str | None) -> None:
        """Add an output from the reader."""
        self.outputs.add(output, display_id)
        self._log.add_output(output)

    def on_output(self, message: Message) -> None:
        """Handle a message of the output channel."""
        self.started = self.started or message_status(message) == "busy"
        try:
            self._update_displays(message)
            self._reader.read(message, self)
        except CellExecutionComplete:
            self._idle = True
        self._check()

    def on_reply(self, message: Message) -> None:
        """Handle the reply."""
        if message["msg_type"] == "execute_reply":
            self.reply = message["content"]
            self.started = True
        self._check()

    def _asks(self, ask: Callable[[Message], None]) -> Callable[[Message], None]:
        def on_input(message: Message) -> None:
            self.started = True
            ask(message)
            self.activity.set()

        return on_input

    def _update_displays(self, message: Message) -> None:
        transient: dict[str, str] = message["content"].get("transient") or {}
        display_id = transient.get("display_id")
        if display_id:
            output = {key: message["content"][key] for key in ("data", "metadata")}
            self.outputs.update_display(display_id, output)
            if message["msg_type"] == "update_display_data":
                self.on_display(display_id, output)

    def _check(self) -> None:
        self.activity.set()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._idle and self.reply is not None:
            self.close()
        elif self._idle or self.reply is not None:
            self._timer = asyncio.get_running_loop().call_later(LOST_SECONDS, self.close)
