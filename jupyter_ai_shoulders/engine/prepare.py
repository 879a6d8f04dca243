"""Builds the request of a step: what is new enters the log, then size and budget are compared.

Run by ``engine.operations``; the reading of the log is ``engine.context``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from jupyter_ai_shoulders.core.catalogue import ModelSpec
from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.settings import EngineSettings
from jupyter_ai_shoulders.core.spending import Account
from jupyter_ai_shoulders.engine.context import (
    ZONE_SOURCE,
    Built,
    Context,
    Role,
    output_reserve,
    prompt_budget,
    system_prompt,
    tools_blob,
    zone_blob,
)
from jupyter_ai_shoulders.engine.memory import Memory
from jupyter_ai_shoulders.engine.signals import Overflowed, Prepare, Prepared
from jupyter_ai_shoulders.engine.state import Turn
from jupyter_ai_shoulders.engine.step_notice import step_notice
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.storage.base import Blobs
from jupyter_ai_shoulders.tools.permissions import RuleBook
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import ContextAdd, ContextRebase, Event
from jupyter_ai_shoulders.wire.ids import BlobHash
from jupyter_ai_shoulders.wire.parts import ToolDefinition
from jupyter_ai_shoulders.wire.sessions import Session

Tools = tuple[ToolDefinition, ...]
_SETS_KEPT = 16


class EncodedTools:
    """The sets of tools offered of late, encoded once for all sessions.

    A registry gives the same definitions every time, so they are told apart by identity.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, ...], tuple[Tools, bytes]] = OrderedDict()

    def blob(self, tools: Tools) -> bytes:
        """Return the definitions as canonical JSON."""
        key = tuple(map(id, tools))
        if key not in self._known:
            self._known[key] = (tools, tools_blob(tools))  # who is kept keeps its id
            if len(self._known) > _SETS_KEPT:
                self._known.popitem(last=False)
        return self._known[key][1]


@dataclass(frozen=True, slots=True)
class Preparation:
    """What requests of one session are made from."""

    context: Context
    memory: Memory
    record: Callable[[Event], None]
    blobs: Blobs
    tools: ToolRegistry
    rules: RuleBook
    clock: Clock
    settings: EngineSettings
    encoded: EncodedTools
    stored: dict[Role, tuple[bytes, BlobHash]] = field(
        default_factory=dict[Role, tuple[bytes, BlobHash]]
    )
    """What was stored last for each role; most turns add nothing to it."""

    def prepare(
        self, operation: Prepare, turn: Turn, session: Session, spec: ModelSpec
    ) -> tuple[ModelRequest, Prepared | Overflowed]:
        """Return the request and whether it fits."""
        if operation.fresh:
            self._enter_context(turn, session, spec)
        notice = step_notice(operation.step, turn.step_limit)
        built = self.context.built((notice,) if notice else ())
        tokens = self.context.tokens(built, spec.family, self.memory.correction)
        request = _request(built, spec, session, turn, operation.step)
        budget = prompt_budget(spec)
        if tokens > budget:
            return request, Overflowed(tokens, budget, spec.window)
        return request, Prepared(tokens, spec.window)

    def _enter_context(self, turn: Turn, session: Session, spec: ModelSpec) -> None:
        """Log what the request needs beside the conversation, where it is new or changed."""
        if self.context.entered("system") is None:
            prompt = system_prompt(session.created_at, self.settings.workspace)
            self._enter("system", "prompts/system.md", prompt.encode())
        self._note_model_change(turn)
        self._enter_tools(self._definitions(turn, session, spec))
        self._enter("meta", ZONE_SOURCE, zone_blob(self.clock.now()))

    def _definitions(self, turn: Turn, session: Session, spec: ModelSpec) -> Tools:
        if not spec.tools or session.tools == "disabled":
            return ()
        return self.tools.definitions(session.toolset, turn.mode, self.rules.disabled)

    def _enter_tools(self, tools: Tools) -> None:
        before = self.context.entered("tools")
        if before is None and not tools:
            return
        content = self.encoded.blob(tools)
        blob = self._put("tools", content)
        if before is not None and blob != before:
            self.record(ContextRebase(reason="tools", replaced={"tools": [before, blob]}))
        self._enter("tools", "tool definitions", content)

    def _note_model_change(self, turn: Turn) -> None:
        before = self.memory.previous_model
        if before is not None and before != turn.model:
            replaced: JsonObject = {"model": [before, turn.model]}
            self.record(ContextRebase(reason="model", replaced=replaced))

    def _enter(self, role: Role, source: str, content: bytes) -> None:
        blob = self._put(role, content)
        if self.context.entered(role) != blob:
            self.record(ContextAdd(role=role, source=source, blob=blob))

    def _put(self, role: Role, content: bytes) -> BlobHash:
        last = self.stored.get(role)
        if last is None or last[0] != content:
            last = self.stored[role] = (content, self.blobs.put(content))
        return last[1]


def _request(
    built: Built, spec: ModelSpec, session: Session, turn: Turn, step: int
) -> ModelRequest:
    return ModelRequest(
        model=spec.model,
        system=built.system,
        messages=built.messages,
        tools=built.tools,
        thinking=spec.thinking,
        max_output=output_reserve(spec),
        cache_key=session.id,
        trace_id=f"{turn.turn_id}/{step}",
        account=Account("turn", session.id, turn.turn_id),
    )
