"""Requests of running agents that a tool may carry out, and what the tools answer.

Made by ``host``: the provider of an agent adds a request before it becomes a tool call and takes
the answer afterwards. The tools refuse calls without a request of the same conversation, so a
language model cannot use them even if it guesses their names.
"""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import PolicyRefusal
from jupyter_ai_shoulders.tools.external_agents.running_command import RunningCommand
from jupyter_ai_shoulders.wire.ids import SessionId


@dataclass(frozen=True, slots=True)
class TextRead:
    """The text of a file, for ``fs/read_text_file``; the log does not repeat it."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The file is written, or the permission given."""


@dataclass(frozen=True, slots=True)
class NotThere:
    """There is no file at the path, for ``fs/read_text_file``."""


Answer = TextRead | NotThere | Done | RunningCommand


class AgentRequests:
    """Open requests by conversation and id."""

    def __init__(self) -> None:
        self._open: dict[tuple[SessionId, str], Answer | None] = {}
        self._replaced: dict[tuple[SessionId, str], str] = {}

    def add(self, session_id: SessionId, request_id: str, *, replaced: str | None = None) -> None:
        """Let a tool carry out this request.

        ``replaced``: the user was asked and allowed that a write replaces exactly this text.
        """
        self._open[session_id, request_id] = None
        if replaced is not None:
            self._replaced[session_id, request_id] = replaced

    def approved_to_replace(self, session_id: SessionId, request_id: str) -> str | None:
        """Return the text that the user allowed to be replaced; None if they were not asked."""
        return self._replaced.get((session_id, request_id))

    def check(self, session_id: SessionId, request_id: str) -> None:
        """Raise ``PolicyRefusal`` if no running agent of the conversation made the request."""
        if (session_id, request_id) not in self._open:
            raise PolicyRefusal(
                "No running agent asks for this; nothing was done.",
                hint="Send a message; the agent continues from there.",
            )

    def answer(self, session_id: SessionId, request_id: str, answer: Answer) -> None:
        """Store the answer of a request that is still open."""
        if (session_id, request_id) in self._open:
            self._open[session_id, request_id] = answer

    def has_answer(self, session_id: SessionId, request_id: str) -> bool:
        """Return whether a tool has carried out the request."""
        return self._open.get((session_id, request_id)) is not None

    def take(self, session_id: SessionId, request_id: str) -> Answer | None:
        """Close a request and return its answer; None if it was not carried out."""
        self._replaced.pop((session_id, request_id), None)
        return self._open.pop((session_id, request_id), None)

    def close(self, session_id: SessionId) -> None:
        """Close all requests of a conversation, as when its agent ended."""
        self._open = {key: value for key, value in self._open.items() if key[0] != session_id}
        self._replaced = {key: text for key, text in self._replaced.items() if key in self._open}
