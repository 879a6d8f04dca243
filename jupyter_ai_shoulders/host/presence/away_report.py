"""Reports to a returning user what the agent did while no page was connected.

Called by the handler of ``GET away``. Reads the ends of the logs of conversations with new events.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeVar

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.host.presence.page_presence import PagePresence, Period
from jupyter_ai_shoulders.storage.base import EventLog
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter, SqliteSessions
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.away_report import AwayChange, AwayQuestion, AwayReport, AwayRun
from jupyter_ai_shoulders.wire.base import Timestamp
from jupyter_ai_shoulders.wire.ids import CallId, SessionId
from jupyter_ai_shoulders.wire.sessions import Session

ItemT = TypeVar("ItemT")

_log = logging.getLogger(__name__)

TRIVIAL_SECONDS = 30.0
"""A shorter absence is reported only if a turn ended or asked something in it."""
RELOAD_SECONDS = 3.0
"""A shorter absence is never reported: the page was reloaded."""
MAX_LISTED = 5
"""Maximum runs and changes that are named; the others are counted."""
SESSIONS = 20
"""Maximum conversations that are read, newest first."""
PAGE = 500
MAX_PAGES = 40
"""Maximum pages of events read back from the end of a log; longer absences are reported in part."""


class AwayReports:
    """Builds the reports."""

    def __init__(
        self, presence: PagePresence, sessions: SqliteSessions, event_log: EventLog
    ) -> None:
        self._presence = presence
        self._sessions = sessions
        self._log = event_log

    async def report(self, user: str | None) -> AwayReport | None:
        """Return the report of the last undismissed absence; None if nothing happened."""
        period = self._presence.period(user)
        if period is None or _seconds(period.since, period.until) < RELOAD_SECONDS:
            return None
        listed = self._sessions.page(SessionFilter(owner=user), None, SESSIONS).sessions
        found: list[AwayReport] = []
        for session in listed:
            if session.updated_at >= period.since and _is_conversation(session):
                events = await self._events(session.id, period.since)
                report = away_report(session.id, events, period)
                found += [] if report is None else [report]
        # Waiting questions first, then the latest activity.
        chosen = max(found, key=lambda each: (each.state == "waiting", each.until), default=None)
        if chosen is not None:
            self._presence.reported(user)
        return chosen

    def dismiss(self, user: str | None) -> None:
        """Forget the absence."""
        self._presence.dismiss(user)

    async def _events(self, session_id: SessionId, since: Timestamp) -> list[ev.Event]:
        """Return the events since ``since``, and some before them."""
        events: list[ev.Event] = []
        try:
            end = self._log.last_seq(session_id)
            for _ in range(MAX_PAGES):
                start = max(0, end - PAGE)
                page = self._log.read(session_id, start, end - start)
                events = [logged.event for logged in page] + events
                if start == 0 or (page and page[0].event.at < since):
                    break
                end = start
                await asyncio.sleep(0)
        except ShouldersError as error:  # deleted in between, or unreadable
            _log.info("No summary of conversation %s while away: %s", session_id, error)
            return []
        return events


def away_report(
    session_id: SessionId, events: Iterable[ev.Event], period: Period
) -> AwayReport | None:
    """Return the report of one conversation, None if nothing is worth reporting. Pure."""
    folded = _TurnSummary(period)
    for event in events:
        if event.at < period.until:
            folded.add(event)
    return folded.report(session_id)


@dataclass
class _TurnSummary:
    """Reduces the events of a conversation since ``period.since`` to a report."""

    period: Period
    calls: dict[CallId, ev.ToolCall] = field(default_factory=dict[CallId, ev.ToolCall])
    runs: dict[CallId, AwayRun] = field(default_factory=dict[CallId, AwayRun])
    changes: dict[str, AwayChange] = field(default_factory=dict[str, AwayChange])
    questions: dict[CallId, AwayQuestion] = field(default_factory=dict[CallId, AwayQuestion])
    began: Timestamp | None = None
    """When the open turn started, or the absence in it."""
    ended: ev.TurnEnd | None = None
    working: float = 0.0
    last: Timestamp = ""
    """When the agent was last active."""
    stopped: bool = False
    """Whether a turn ended or asked something."""

    def add(self, event: ev.Event) -> None:
        is_away = event.at >= self.period.since
        if is_away and event.turn_id is not None:
            self.last = max(self.last, event.at)
        match event:
            case ev.TurnStart() | ev.TurnResume():
                self.began = max(event.at, self.period.since)
                self.ended = None
                self.questions.clear()
            case ev.TurnEnd():
                self._turn_ended(event, is_away=is_away)
            case ev.ToolCall():
                self.calls[event.call_id] = event
            case ev.ApprovalRequest():
                call = self.calls.get(event.call_id)
                self._asked(event.call_id, "approval", call.title if call else event.tool, is_away)
            case ev.ClarifyRequest():
                self._asked(event.call_id, "clarify", event.question, is_away)
            case ev.StdinRequest():
                self._asked(event.call_id, "input", event.prompt, is_away)
            case ev.ApprovalAnswer() | ev.ClarifyAnswer() | ev.StdinAnswer():
                self.questions.pop(event.call_id, None)
            case _ if is_away:
                self._did(event)
            case _:
                pass

    def _turn_ended(self, event: ev.TurnEnd, *, is_away: bool) -> None:
        self.questions.clear()
        if self.began is not None and is_away:
            self.working += _seconds(self.began, event.at)
        self.began = None
        self.ended = event if is_away else None
        self.stopped = self.stopped or is_away

    def _asked(
        self,
        call_id: CallId,
        kind: Literal["approval", "clarify", "input"],
        text: str,
        is_away: bool,
    ) -> None:
        self.questions[call_id] = AwayQuestion(kind=kind, text=text)
        self.stopped = self.stopped or is_away

    def _did(self, event: ev.Event) -> None:
        match event:
            case ev.ToolStart():
                self._ran(event.call_id, "running", None)
            case ev.ToolResult() if event.run is None:
                self._ran(event.call_id, event.status, event.duration_ms)
            case ev.RunEnd():
                self.runs[event.call_id] = AwayRun(
                    title=event.title,
                    target=None,
                    status=event.status,
                    duration_ms=event.duration_ms,
                )
            case ev.EditPending():
                self.changes[event.edit_id] = AwayChange(
                    document=event.document, cell_id=event.cell_id, title=event.title
                )
            case ev.EditResolve():
                self.changes.pop(event.edit_id, None)
            case _:
                pass

    def _ran(
        self, call_id: CallId, status: ev.CallStatus | Literal["running"], duration_ms: int | None
    ) -> None:
        call = self.calls.get(call_id)
        if call is not None and call.risk == "execute":
            run = AwayRun(
                title=call.title, target=call.target, status=status, duration_ms=duration_ms
            )
            self.runs[call_id] = run

    def report(self, session_id: SessionId) -> AwayReport | None:
        """Return the report, None if nothing happened or the absence was too short."""
        since, until = self.period.since, self.period.until
        is_short = _seconds(since, until) < TRIVIAL_SECONDS
        if not self.last or (is_short and not self.stopped):
            return None
        question = next(iter(self.questions.values()), None)
        state = "ended" if self.began is None else "running" if question is None else "waiting"
        open_since = max(self.began or until, since)
        going_on = _seconds(open_since, self.last if question else until) if self.began else 0.0
        return AwayReport(
            session_id=session_id,
            since=since,
            until=self.last,
            working_ms=round(1000 * (self.working + max(going_on, 0.0))),
            runs=_last(list(self.runs.values())),
            run_count=len(self.runs),
            changes=_last(list(self.changes.values())),
            change_count=len(self.changes),
            state=state,
            question=question,
            exit=self.ended.exit if self.ended is not None else None,
        )


def _last(items: Sequence[ItemT]) -> tuple[ItemT, ...]:
    return tuple(items[-MAX_LISTED:])


def _is_conversation(session: Session) -> bool:
    """Return whether the session belongs to the panel; edits in place end with their page."""
    return session.kind in {"chat", "task"} and session.toolset != "inline"


def _seconds(start: Timestamp, end: Timestamp) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
