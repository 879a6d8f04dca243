"""Look-up tables of a session, folded from its log beside the state.

For the driver (idempotent sends, versions seen, totals); decisions do not use them.
"""

from __future__ import annotations

from collections.abc import Collection

from jupyter_ai_shoulders.engine.request.context import corrected
from jupyter_ai_shoulders.tools.load_tools import LOAD_TOOLS, loaded_category
from jupyter_ai_shoulders.tools.planning.plan import RUN_PLAN, carried_state
from jupyter_ai_shoulders.wire.api.responses import MessageAccepted
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import (
    ContextAdd,
    ContextRebase,
    EditResolve,
    Event,
    MessageAdd,
    MessageUpdate,
    Notice,
    Restore,
    SessionCreate,
    StepStart,
    TodoItem,
    TodoUpdate,
    ToolCall,
    ToolResult,
    TurnResume,
    TurnStart,
    UsageUpdate,
)
from jupyter_ai_shoulders.wire.ids import (
    BlobHash,
    CallId,
    CellId,
    MessageId,
    ModelId,
    SessionId,
    TurnId,
    Version,
)
from jupyter_ai_shoulders.wire.messages import MessageContext
from jupyter_ai_shoulders.wire.sessions import Mode

TITLE_LIMIT = 60
EARLIER_VERSIONS = 8
"""Earlier versions kept for each text."""
COMPACTION_WANTED = "compaction_wanted"
"""Code of the notice that the user requested a summary of earlier messages."""


class SessionIndex:
    """Grows with the log."""

    def __init__(self) -> None:
        self.accepted: dict[MessageId, MessageAccepted] = {}
        """The response to each accepted message."""
        self.choices: dict[MessageId, tuple[ModelId | None, Mode | None]] = {}
        """Model and mode requested with messages; None or absent means the session's."""
        self.call_ids: set[CallId] = set()
        self.seen: dict[tuple[str, CellId | None], Version] = {}
        """Versions this conversation has read or written, by path and cell."""
        self.earlier: dict[tuple[str, CellId | None], tuple[Version, ...]] = {}
        """Versions read before those, newest first."""
        self.taken_back: set[tuple[str, CellId | None]] = set()
        """Changes undone since the conversation read the text."""
        self.said: dict[MessageId, int] = {}
        """The ``seq`` at which each visible user message entered the conversation."""
        self.answers: set[MessageId] = set()
        """The messages among them that answered a question."""
        self.todo: tuple[TodoItem, ...] = ()
        self.copied = 0
        """The last event that a fork copied from its origin."""
        self.root: SessionId | None = None
        """The first session of a line of forks, whose prompt caches this one shares."""
        self.environment = MessageContext()
        """The page context of the user's last message."""
        self.last_message: MessageId | None = None
        """The last message that entered the conversation."""
        self.title = ""
        """The first line of the first message."""
        self.tokens_used = 0
        self.window: int | None = None
        self.cost_micro_usd: int | None = 0
        self.correction = 1.0
        """The factor for estimates, from the last reported usage."""
        self.model: ModelId | None = None
        self.sent_model: ModelId | None = None
        """The model the sent bytes were made for: of the last step, or as a rebase said."""
        self.handles: set[BlobHash] = set()
        """Whole outputs to which results gave handles."""
        self.plan: JsonObject | None = None
        """The state left by a plan of this turn that is to be repeated."""
        self.compaction_wanted = False
        """Whether earlier messages are to be summarised before the next answer."""
        self.loaded: set[str] = set()
        """Tool categories loaded before this turn, which its tools block contains."""
        self._loading: set[str] = set()
        self._begun: set[TurnId] = set()
        self._last_start = 0
        """The ``seq`` of the last visible turn's start; it read all earlier messages."""
        self._queued: dict[MessageId, MessageAdd] = {}

    def add(self, event: Event) -> None:
        """Add the next event of the log."""
        match event:
            case MessageAdd() | MessageUpdate():
                self._message(event)
            case TurnStart():
                self._begin(event)
            case TurnResume() | StepStart() | ContextRebase() | Notice():
                self._go_on(event)
            case UsageUpdate():
                self._book(event)
            case ToolCall():
                self.call_ids.add(event.call_id)
            case TodoUpdate() | Restore() | EditResolve():
                self._change(event)
            case SessionCreate():
                self._descend(event)
            case ContextAdd():
                self._see(event)
            case ToolResult():
                self._see(event)
                self._result(event)
            case _:
                pass

    def add_hidden(self, event: Event) -> None:
        """Add an event of an abandoned branch: accepted messages and costs remain."""
        match event:
            case MessageAdd():
                self._accept(event)
            case TurnStart() if event.turn_id is not None:
                self._begun.add(event.turn_id)
            case UsageUpdate():
                self._pay(event)
            case ToolCall():
                self.call_ids.add(event.call_id)
            case _:
                pass

    def waits_for_turn(self, message_id: MessageId) -> bool:
        """Return whether the message's turn never started and no later turn read it.

        Replaced and removed messages wait for no turn.
        """
        accepted = self.accepted[message_id]
        in_sight = message_id in self.said or message_id in self._queued
        read = accepted.turn_id in self._begun or accepted.seq < self._last_start
        return in_sight and not read

    def _message(self, event: MessageAdd | MessageUpdate) -> None:
        if isinstance(event, MessageAdd):
            self._accept(event)
            if event.replaces is not None:
                self._queued.clear()
                self.todo = event.replaces.todo
            if event.answers is not None:
                self.answers.add(event.message_id)
            if event.model is not None or event.mode is not None:
                self.choices[event.message_id] = (event.model, event.mode)
            self.title = self.title or _first_line(event.text)
            if event.queued:
                self._queued[event.message_id] = event
            else:
                self._enter(event, event.seq)
        elif event.status != "queued":
            queued = self._queued.pop(event.message_id, None)
            if queued is not None and event.status == "consumed":
                self._enter(queued, event.seq)

    def _change(self, event: TodoUpdate | Restore | EditResolve) -> None:
        match event:
            case TodoUpdate():
                self.todo = event.items
            case EditResolve():
                if event.decision == "undo" and event.document is not None:
                    self._take_back({event.document})
            case Restore():
                self._take_back({restored.document for restored in event.documents})
                if event.conversation is not None:
                    self._queued.clear()
                    self.todo = event.conversation.todo

    def _descend(self, event: SessionCreate) -> None:
        if event.origin is not None:
            self.copied, self.root = event.origin.seq, event.origin.root

    def _accept(self, event: MessageAdd) -> None:
        turn_id = event.turn_id or TurnId("")
        self.accepted[event.message_id] = MessageAccepted(turn_id=turn_id, seq=event.seq)

    def _enter(self, message: MessageAdd, seq: int) -> None:
        self.said[message.message_id] = seq
        self._look(message)

    def _look(self, message: MessageAdd) -> None:
        self.last_message = message.message_id
        if message.context is not None:
            self.environment = message.context

    def _see(self, event: ContextAdd | ToolResult) -> None:
        for item in event.seen:
            key = (item.path, item.cell_id)
            before = self.seen.get(key)
            self.taken_back.discard(key)
            if before is not None and before != item.version:
                older = (each for each in self.earlier.get(key, ()) if each != before)
                self.earlier[key] = (before, *older)[:EARLIER_VERSIONS]
            self.seen[key] = item.version

    def _take_back(self, documents: Collection[str]) -> None:
        self.taken_back |= {key for key in self.seen if key[0] in documents}

    def _result(self, event: ToolResult) -> None:
        if event.handle is not None:
            self.handles.add(event.handle)
        if event.tool == RUN_PLAN:
            self.plan = carried_state(event.result, self.plan)
        if event.tool == LOAD_TOOLS and event.status == "ok":
            self._loading |= loaded_category(event.result)

    def _begin(self, event: TurnStart) -> None:
        self._last_start = event.seq
        self.plan = None
        self.loaded |= self._loading
        if event.turn_id is not None:
            self._begun.add(event.turn_id)
        self._use(event.model)

    def _go_on(self, event: TurnResume | StepStart | ContextRebase | Notice) -> None:
        if isinstance(event, Notice):
            self.compaction_wanted |= event.code == COMPACTION_WANTED
            return
        if isinstance(event, TurnResume):
            self._use(event.model)
            return
        if isinstance(event, StepStart):
            self.tokens_used, self.window = event.tokens_used, event.window
        elif event.reason == "compaction":
            self.compaction_wanted = False
            return
        elif event.reason != "model":
            return
        self.sent_model = self.model

    def _use(self, model: ModelId) -> None:
        if model != self.model:
            self.correction = 1.0
        self.model = model

    def _book(self, event: UsageUpdate) -> None:
        self._pay(event)
        if not event.usage.estimated:
            self.correction = corrected(self.correction, self.tokens_used, event.usage.input_tokens)

    def _pay(self, event: UsageUpdate) -> None:
        if self.cost_micro_usd is not None:
            cost = event.cost_micro_usd
            self.cost_micro_usd = None if cost is None else self.cost_micro_usd + cost


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= TITLE_LIMIT else line[: TITLE_LIMIT - 1].rstrip() + "…"
