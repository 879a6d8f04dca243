"""Shows the events of turns in the terminal: text as it streams, a line for each tool call.

Made by ``chat_session``; ``user_prompts`` shows requests to the user.
"""

from __future__ import annotations

from jupyter_ai_shoulders.cli.chat.line_wrapping import EXACT
from jupyter_ai_shoulders.cli.chat.markdown_styles import MarkdownStyler
from jupyter_ai_shoulders.cli.chat.review import waiting_text
from jupyter_ai_shoulders.cli.chat.terminal import NOTE, WARNING, TerminalScreen
from jupyter_ai_shoulders.client.errors import describe_error
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.ids import CallId, EditId, ProposalId

MAX_OUTPUT = 4_000
"""Maximum characters of one call's output; the notebook, or the side panel, has all of it."""

_ENDS = {
    "cancelled": "The turn was cancelled.",
    "tool_rejected": "The turn ended because a call was refused.",
    "interrupted": "The interrupted turn was discarded.",
    "step_cap": "The step limit was reached; send a message to continue.",
    "budget_exhausted": "A spending limit was reached.",
    "context_overflow": "The conversation is too long for the model; /compact or /new help.",
    "error": "The turn failed.",
}


class EventDisplay:
    """Displays one conversation on the screen."""

    def __init__(self, screen: TerminalScreen) -> None:
        self._screen = screen
        self._styles = MarkdownStyler()
        self._printed: dict[CallId, int] = {}
        self._edits: set[EditId] = set()
        """Pending edits of this turn."""
        self._proposals: set[ProposalId] = set()

    def show_history(self, events: list[ev.Event]) -> None:
        """Show past events, including the user's messages."""
        for event in events:
            if isinstance(event, ev.MessageAdd):
                self._screen.write_lines(f"> {event.text}", "bold")
            if not isinstance(event, ev.EditPending | ev.ProposalAdd):  # may be decided by now
                self.take(event)
        self._screen.close_line()

    def take(self, event: ev.Event) -> None:
        """Show an event."""
        match event:
            case ev.TextStart():
                self._styles = MarkdownStyler()
                self._screen.close_line()
            case ev.TextDelta():
                self._screen.show(self._styles.feed(event.text))
            case ev.TextEnd():
                self._screen.show(self._styles.end())
                self._screen.close_line()
            case ev.ReasoningStart():
                self._screen.note("Thinking …")
            case ev.TurnEnd():
                self._end(event)
            case ev.Notice() if event.level == "info":
                self._screen.note(event.text)
            case ev.Notice():
                self._screen.warn(event.text)
            case ev.RetryWait():
                self._screen.note(f"{event.reason} Next try in {event.delay_ms / 1000:.0f} s.")
            case ev.ErrorEvent():
                self._screen.warn(describe_error(event.error))
            case _:
                self._call(event)

    def _call(self, event: ev.Event) -> None:
        match event:
            case ev.ToolCall():
                target = f" · {event.target}" if event.target else ""
                self._screen.note(event.title + target)
            case ev.ToolProgress() if event.channel != "status":
                self._output(event)
            case ev.ToolResult() if event.result.error is not None:
                self._screen.note(f"{event.tool}: {event.result.error.message}")
            case ev.RunEnd():
                self._screen.note(f"{event.title}: ended ({event.status})")
            case ev.ArtifactShare():
                self._screen.note(f"Shared {event.name}")
            case ev.AgentActivity(status="pending" | "failed"):
                failed = "Failed: " if event.status == "failed" else ""
                self._screen.note(f"{failed}{event.title}")
            case ev.TodoUpdate():
                done = sum(item.done for item in event.items)
                self._screen.note(f"Plan: {done} of {len(event.items)} done")
            case _:
                self._change(event)

    def _change(self, event: ev.Event) -> None:
        match event:
            case ev.EditPending():
                self._edits.add(event.edit_id)
            case ev.EditResolve() if event.hunks is None:
                self._edits.discard(event.edit_id)
            case ev.ProposalAdd():
                self._proposals.add(event.proposal.id)
            case ev.ProposalResolve():
                self._proposals.discard(event.proposal_id)
            case _:
                pass

    def _output(self, event: ev.ToolProgress) -> None:
        before = self._printed.get(event.call_id, 0)
        self._printed[event.call_id] = before + len(event.text)
        text = event.text[: max(0, MAX_OUTPUT - before)]
        lines = text.replace("\r\n", "\n").replace("\r", "\n")  # of a progress bar
        self._screen.show([(f"{EXACT} {NOTE}", lines)])
        if before <= MAX_OUTPUT < before + len(event.text):
            self._screen.note("More output is not shown here.")

    def _end(self, event: ev.TurnEnd) -> None:
        self._screen.show(self._styles.end())
        self._screen.close_line()
        if event.summary:
            self._screen.write_lines(event.summary)
        if event.error is not None:
            self._screen.warn(describe_error(event.error))
        elif event.exit in _ENDS:
            self._screen.write_lines(f"! {_ENDS[event.exit]}", WARNING)
        if self._edits or self._proposals:
            self._screen.note(waiting_text(len(self._edits), len(self._proposals)))
