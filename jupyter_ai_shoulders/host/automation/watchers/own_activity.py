"""Collects what our conversations do to files, so that watchers can tell it from others' changes.

A listener of the event bus; used by ``host.automation.watchers.service``. Tools record what they
write in the operation journal; of cells and commands only the time is known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import datetime

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.core.file_changes.attribution import Moment, OwnActivity
from jupyter_ai_shoulders.core.operation_journal import OperationJournal
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire.events import RunEnd, ToolCall, ToolResult, ToolStart
from jupyter_ai_shoulders.wire.ids import CallId, LongRunId, SessionId
from jupyter_ai_shoulders.wire.operations import Operation

MOST_RUNS = 2_000
"""Finished runs of code that are remembered, the latest."""
_OPERATIONS = 2_000
"""The latest ones that are looked at."""
_Key = tuple[SessionId, CallId | LongRunId]


class OwnActivityLog:
    """The recent activity of all conversations of this process."""

    def __init__(self, journal: OperationJournal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._executing: set[_Key] = set()
        """Calls that run code and have not ended."""
        self._started: dict[_Key, int] = {}
        self._ran: deque[Moment] = deque(maxlen=MOST_RUNS)
        self._saved: dict[str, int] = {}

    def on_event(self, logged: LoggedEvent) -> None:
        """Note when code of a conversation starts and ends."""
        match logged.event:
            case ToolCall(risk="execute", session_id=session_id, call_id=call_id):
                self._executing.add((session_id, call_id))
            case ToolStart(session_id=session_id, call_id=call_id):
                if (session_id, call_id) in self._executing:
                    self._started[session_id, call_id] = self._now_ns()
            case ToolResult(session_id=session_id, call_id=call_id, run=run):
                self._executing.discard((session_id, call_id))
                started = self._started.pop((session_id, call_id), None)
                if started is not None and run is not None:
                    self._started[session_id, run] = started
                elif started is not None:
                    self._ran.append(Moment(started, self._now_ns()))
            case RunEnd(session_id=session_id, run=run):
                started = self._started.pop((session_id, run), None)
                if started is not None:
                    self._ran.append(Moment(started, self._now_ns()))
            case _:
                pass

    def saved(self, path: str) -> None:
        """Note that the person saved a file in the lab."""
        self._saved.pop(path, None)
        self._saved[path] = self._now_ns()
        if len(self._saved) > MOST_RUNS:
            del self._saved[next(iter(self._saved))]

    def since(self, moment_ns: int) -> OwnActivity:
        """Return the activity since a moment; one query."""
        now = self._now_ns()
        running = [Moment(started, now) for started in self._started.values()]
        written: dict[str, set[str | None]] = {}
        for operation in self._operations():
            if operation.state == "failed" or _nanoseconds(operation.at) < moment_ns:
                continue
            for path in filter(None, (operation.document, operation.new_document)):
                written.setdefault(path.rstrip("/"), set()).add(_version(operation, path))
        return OwnActivity(
            written=written,
            code_ran=[ran for ran in (*self._ran, *running) if ran.latest >= moment_ns],
            saved={path: at for path, at in self._saved.items() if at >= moment_ns},
        )

    def _operations(self) -> Iterable[Operation]:
        try:
            return self._journal.recent(limit=_OPERATIONS)
        except ShouldersError:  # conversations cannot be stored now, so none is running
            return ()

    def _now_ns(self) -> int:
        return _clock_ns(self._clock.now())


def _version(operation: Operation, path: str) -> str | None:
    """Return the hash of what an operation wrote at a path; None where it is not known."""
    is_whole_file = operation.cell_id is None and operation.kind in {"edit", "create", "copy"}
    return operation.after_version if is_whole_file and not path.endswith(".ipynb") else None


def _nanoseconds(at: str) -> int:
    return _clock_ns(datetime.fromisoformat(at))


def _clock_ns(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000) * 1000
