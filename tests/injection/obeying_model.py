"""A model that obeys: it acts as soon as a request holds the injected text, whatever held it."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field

from jupyter_ai_shoulders.host.delegation.sub_agent_ids import PREFIX
from jupyter_ai_shoulders.providers.base import ListedModel, ModelRequest, ProviderEvent
from jupyter_ai_shoulders.testing.scripted_provider import (
    Call,
    ScriptedProvider,
    ScriptedTurn,
    turn,
)
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.parts import ImagePart, TextPart, ToolResultPart

ACT = "act"
"""Id of the call that the injected text demands."""
PICTURE = "INJECTED-picture"
"""Counts as held by a request with a picture: its text cannot be searched."""
SUMMARY = "INJECTED-summary"
RELAYED = "INJECTED-relayed"
"""What a sub-agent says."""
DONE = "Done."


@dataclass(slots=True)
class Script:
    """What the model does in one conversation."""

    marker: str
    """Held by the injected text; empty: it acts in any case."""
    says: str = DONE
    reads: deque[Call] = field(default_factory=deque[Call])
    """What the person wants to be read first."""
    action: Call | None = None
    """What the injected text demands; None before the last turn."""
    sent: bool = False
    """Whether a request held the injected text when it was time to act."""
    early: bool = False
    """Whether a request held it before anything was read: it came in another way."""


class ObeyingModel:
    """A ``Provider`` for all conversations of a host."""

    def __init__(self) -> None:
        self.scripts: dict[SessionId, Script] = {}
        self.next_threads: deque[Script] = deque()
        """For conversations that the agent opens."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ProviderEvent]:
        """Answer a request."""
        async for event in ScriptedProvider(self._reply(request)).stream(request):
            yield event

    async def list_models(self) -> list[ListedModel]:
        """Return the one there is."""
        return [ListedModel("scripted")]

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return None: it is for callers to estimate."""

    async def aclose(self) -> None:
        """Do nothing."""

    def _reply(self, request: ModelRequest) -> ScriptedTurn | str:
        account = request.account
        if account is None or account.session_id is None or account.purpose != "turn":
            return turn(Call("answer", _notes(request)))
        script = self._script(account.session_id)
        if script.reads:
            script.early |= bool(script.marker) and _holds(request, script.marker)
            return turn(script.reads.popleft())
        if script.action is None:
            return script.says
        action, script.action = script.action, None
        script.sent = _holds(request, script.marker)
        return turn(action) if script.sent else script.says

    def _script(self, session_id: SessionId) -> Script:
        if session_id.startswith(PREFIX):
            return self.scripts.setdefault(session_id, _sub_agent())
        if session_id not in self.scripts:
            threads = self.next_threads
            self.scripts[session_id] = threads.popleft() if threads else Script("")
        return self.scripts[session_id]


def _sub_agent() -> Script:
    """A sub-agent that reads a stranger's file and passes on what it demands."""
    read = Call("read_file", {"path": "notes/closed.md"}, "read")
    return Script("", says=RELAYED, reads=deque([read]))


def texts_of(request: ModelRequest) -> Iterator[str]:
    """Yield all text sent to the model, except the arguments of its calls."""
    yield request.system
    for message in request.messages:
        for part in message.parts:
            if isinstance(part, ToolResultPart):
                yield from _shown(part.content)
            else:
                yield from _shown([part])


def _holds(request: ModelRequest, marker: str) -> bool:
    return any(marker in text for text in texts_of(request))


def _shown(parts: Iterable[object]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, TextPart):
            yield part.text
        elif isinstance(part, ImagePart):
            yield PICTURE


def _notes(request: ModelRequest) -> JsonObject:
    """Return a summary that passes the injected text on, if the conversation held it."""
    held = _holds(request, "INJECTED-")
    state = SUMMARY if held else "Nothing."
    empty: JsonObject = {"goals": [], "user_said": [], "decisions": [], "failed": [], "open": []}
    return {**empty, "state": [state]}
