"""Conversations that show given texts wherever text appears, written into a store before a start.

Filled with hostile texts and with those of ordinary work.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from jupyter_ai_shoulders.host.state.store import StateStore
from jupyter_ai_shoulders.storage.artifacts import ArtifactFiles
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.event_types.questions import ApprovalReason
from jupyter_ai_shoulders.wire.ids import (
    CallId,
    MessageId,
    ModelId,
    PartId,
    ProposalId,
    ProviderId,
    SessionId,
    TurnId,
    Version,
)
from jupyter_ai_shoulders.wire.messages import FileAttachment, MessageContext, Selection
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from jupyter_ai_shoulders.wire.sessions import TextRange
from tests.bench.prepared_store import open_store
from tests.storage.store import session
from tests.support.lab_server import Lab

PER_TURN = 20

TURN = TurnId("turn_0123456789abcdef01234567")
WHOLE = TextRange.model_validate({"from": 0, "to": 1})


ACTIVE = (
    *("text/html", "text/markdown", "text/latex", "image/svg+xml", "text/plain"),
    *("application/javascript", "application/vnd.jupyter.widget-view+json"),
)
"""Kinds of active output."""


def fill(lab: Lab, scenes: ConversationSamples) -> None:
    """Write the conversations into the state directory of a stopped server."""
    with ThreadPoolExecutor(1) as thread:  # Playwright's loop runs in this thread
        thread.submit(asyncio.run, _fill(lab, scenes)).result()


async def _fill(lab: Lab, scenes: ConversationSamples) -> None:
    state = lab.root / ".shoulders"
    async with open_store(state, lab.home) as store:
        for number, text in enumerate(scenes.texts):
            store.sessions.add(_titled(f"title{number}", text[:200]))
        for name, events in scenes.all().items():
            _write(store, name, events)
        files = ArtifactFiles(StateDirectory(state))
        for name, content in scenes.files.items():
            files.put(SessionId("ses_cards"), name, content.encode())


@dataclass(frozen=True)
class ConversationSamples:
    """The texts, the names of files, and the content of shared files."""

    texts: tuple[str, ...]
    names: tuple[str, ...]
    files: Mapping[str, str]

    @property
    def joined(self) -> str:
        """All texts."""
        return "\n".join(self.texts)

    def all(self) -> dict[str, Iterator[ev.Event]]:
        """The conversations by their names."""
        return {
            "words": self.words(),
            "calls": self.calls(),
            "activities": self.activities(),
            "cards": self.cards(),
            "command": self.approval({"command": self.joined}, self.joined, "bash"),
            "difference": self.approval({"path": self.names[0]}, self._difference(), "diff"),
            "arguments": self.approval({f"{n} {p[:40]}": p for n, p in enumerate(self.texts)}),
            "question": self.question(),
            "input": self.stdin(),
        }

    def _chunks(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        starts = range(0, len(self.texts), PER_TURN)
        return enumerate(self.texts[start : start + PER_TURN] for start in starts)

    def _named(self, number: int) -> str:
        return self.names[number % len(self.names)]

    def _begin(
        self, text: str, number: int = 0, context: MessageContext | None = None
    ) -> Iterator[ev.Event]:
        message = MessageId(f"msg_{number}")
        yield ev.MessageAdd(
            message_id=message,
            text=text,
            context=context,
            attachments=(FileAttachment(kind="file", path=self._named(number)),),
        )
        yield ev.TurnStart(
            turn_id=TURN,
            message_id=message,
            model=ModelId("simulated"),
            provider=ProviderId("simulator"),
            mode="ask",
            step_limit=50,
        )
        yield ev.StepStart(turn_id=TURN, step=1, limit=50, tokens_used=100, window=200_000)

    def words(self) -> Iterator[ev.Event]:
        """Texts of the user and the model, each payload a separate part; endings of turns."""
        for number, chunk in self._chunks():
            joined = "\n".join(chunk)
            context = MessageContext(
                active_document=self._named(number),
                selection=Selection(cell_id=None, range=WHOLE, text=joined),
                open_documents=(self._named(number + 1),),
            )
            yield from self._begin(joined, number, context)
            reasoning = PartId(f"reasoning_{number}")
            yield ev.ReasoningStart(turn_id=TURN, part_id=reasoning)
            yield ev.ReasoningDelta(turn_id=TURN, part_id=reasoning, text="\n\n".join(chunk))
            yield ev.ReasoningEnd(turn_id=TURN, part_id=reasoning)
            for place, payload in enumerate(chunk):
                part = PartId(f"part_{number}_{place}")
                yield ev.TextStart(turn_id=TURN, part_id=part)
                yield ev.TextDelta(turn_id=TURN, part_id=part, text=payload)
                yield ev.TextEnd(turn_id=TURN, part_id=part)
            yield ev.Notice(turn_id=TURN, level="warning", code="trust", text=joined)
            yield ev.ErrorEvent(turn_id=TURN, error=_error(joined))
            yield ev.TurnEnd(turn_id=TURN, exit="ended_by_tool", summary=joined)

    def calls(self) -> Iterator[ev.Event]:
        """Calls with the texts as title, target, arguments, progress, output and error."""
        yield from self._begin("Call everything.")
        for number, chunk in self._chunks():
            joined = "\n".join(chunk)
            call = CallId(f"call_{number}")
            yield self._call(call, chunk, joined)
            yield ev.ToolStart(turn_id=TURN, call_id=call)
            yield ev.ToolProgress(turn_id=TURN, call_id=call, channel="stdout", text=joined)
            yield ev.ToolResult(
                turn_id=TURN,
                call_id=call,
                tool="edit_cell",
                status="ok" if number % 2 else "error",
                result=_envelope(joined),
                content=(TextPart(text=joined),),
                duration_ms=10,
            )
        yield ev.TurnEnd(turn_id=TURN, exit="error", error=_error(self.joined))

    def _call(self, call: CallId, chunk: Sequence[str], joined: str) -> ev.ToolCall:
        return ev.ToolCall(
            turn_id=TURN,
            call_id=call,
            tool="edit_cell",
            arguments={f"{place} {each[:40]}": each for place, each in enumerate(chunk)},
            raw=joined,
            invalid=None,
            risk="write",
            external=False,
            title=f"Edit {joined[:80]}",
            target=joined[:200],
        )

    def activities(self) -> Iterator[ev.Event]:
        """What an agent of others reports: titles, files, texts and differences."""
        yield from self._begin("Let the agent work.")
        for number, chunk in self._chunks():
            joined = "\n".join(chunk)
            yield ev.AgentActivity(
                turn_id=TURN,
                activity_id=f"activity_{number}",
                title=f"Edit {joined[:80]}",
                kind="edit" if number % 2 else "execute",
                status="failed" if number % 2 else "completed",
                locations=(self._named(number),),
                content=(
                    ev.ActivityText(text=joined),
                    ev.ActivityDiff(path=self._named(number), old=None, new=joined),
                ),
            )
        yield self._agent_state()
        yield ev.TurnEnd(turn_id=TURN, exit="final_response")

    def _agent_state(self) -> ev.AgentState:
        choices = tuple(
            ev.AgentChoice(id=str(number), name=text[:80], description=text[:200])
            for number, text in enumerate(self.texts[:20])
        )
        commands = (
            ev.AgentSlashCommand(name=f"do-{number}", description=text[:200], hint=text[:80])
            for number, text in enumerate(self.texts[:20])
        )
        return ev.AgentState(agent="other", mode="0", modes=choices, commands=tuple(commands))

    def cards(self) -> Iterator[ev.Event]:
        """Shared files, proposals, and a checklist."""
        yield from self._begin("Share everything.")
        for number, (name, content) in enumerate(self.files.items()):
            yield ev.ArtifactShare(
                turn_id=TURN,
                call_id=CallId(f"call_{number}"),
                name=name,
                media_type="application/octet-stream",
                size=len(content),
                description="\n".join(self.texts[:200]),
            )
        for number, name in enumerate(self.names):
            yield ev.ProposalAdd(turn_id=TURN, call_id=None, proposal=self._proposal(number, name))
        items = tuple(ev.TodoItem(text=each[:300], done=False, depth=0) for each in self.texts)
        yield ev.TodoUpdate(turn_id=TURN, items=items)
        yield ev.TurnEnd(turn_id=TURN, exit="final_response")

    def _proposal(self, number: int, name: str) -> Proposal:
        chunk = self.texts[number * 13 : (number + 1) * 13 + 1]
        return Proposal(
            id=ProposalId(f"prop_{number}"),
            session_id=SessionId("ses_cards"),
            turn_id=TURN,
            document=name,
            cell_id=None,
            old="\n".join(chunk),
            new="\n".join([*chunk, "more"]),
            current="\n".join(chunk),
            current_version=Version("v"),
            reason="\n".join(chunk),
            state="proposed",
        )

    def _difference(self) -> str:
        head = [f"--- {self.names[0]}", f"+++ {self.names[0]}", "@@ -1 +1 @@"]
        return "\n".join([*head, *(f"+{line}" for line in self.joined.split("\n"))])

    def approval(
        self, arguments: dict[str, Any], preview: str | None = None, language: str | None = None
    ) -> Iterator[ev.Event]:
        """A call that waits for approval."""
        yield from self._begin("Do it.")
        call = CallId("call_waits")
        yield ev.ToolCall(
            turn_id=TURN,
            call_id=call,
            tool="run_command",
            arguments=arguments,
            raw=None,
            invalid=None,
            risk="execute",
            external=False,
            title="Run a command",
            target="\n".join(self.names),
        )
        canonical = json.dumps(arguments, sort_keys=True, separators=(",", ":"))
        yield ev.ApprovalRequest(
            turn_id=TURN,
            call_id=call,
            tool="run_command",
            arguments=arguments,
            arguments_hash=hashlib.sha256(canonical.encode()).hexdigest(),
            preview=preview,
            language=language,
            reason=ApprovalReason(kind="taint", text="\n".join(self.texts[:300])),
            scopes=("once", "session", "always"),
            sandboxed=False,
        )

    def question(self) -> Iterator[ev.Event]:
        """A question with options."""
        yield from self._begin("Ask me.")
        call = CallId("call_waits")
        yield self._asking(call, "clarify")
        yield ev.ClarifyRequest(
            turn_id=TURN,
            call_id=call,
            question="\n\n".join(self.texts),
            options=tuple(each[:200] for each in self.texts),
            allow_multiple=True,
        )

    def stdin(self) -> Iterator[ev.Event]:
        """A cell that asks for input."""
        yield from self._begin("Run it.")
        call = CallId("call_waits")
        yield self._asking(call, "run_cell")
        yield ev.ToolStart(turn_id=TURN, call_id=call)
        yield ev.StdinRequest(turn_id=TURN, call_id=call, prompt=self.joined, password=False)

    def _asking(self, call: CallId, tool: str) -> ev.ToolCall:
        return ev.ToolCall(
            turn_id=TURN,
            call_id=call,
            tool=tool,
            arguments={},
            raw=None,
            invalid=None,
            risk="read",
            external=False,
            title="Ask",
            target="\n".join(self.names),
        )


def _titled(name: str, title: str) -> Any:
    return session(name).model_copy(update={"title": title})


def _write(store: StateStore, name: str, events: Iterator[ev.Event]) -> None:
    stored = store.sessions.add(_titled(name, f"scene {name}"))
    for event in events:
        store.log.append(stored.id, event)


def _envelope(joined: str) -> ToolEnvelope:
    """Before and after, and rich outputs of every active kind."""
    bundle = dict.fromkeys(ACTIVE, joined)
    data: dict[str, Any] = {
        "before": joined,
        "after": f"{joined}\nmore",
        "outputs": [
            {"output_type": "display_data", "data": bundle, "metadata": {}},
            {"output_type": "display_data", "data": {"image/png": '" onerror="window.hit=1'}},
            {"output_type": "stream", "name": "stdout", "text": joined},
            {"output_type": "error", "ename": joined, "evalue": joined, "traceback": [joined]},
        ],
    }
    return ToolEnvelope(ok=True, kind="diff", data=data, warning=joined, error=_error(joined))


def _error(text: str) -> ErrorInfo:
    return ErrorInfo(code="internal", message=text, hint=text, details={"text": text})
