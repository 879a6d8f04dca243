"""Builds the request of a step: logs new context, then compares the size with the budget.

Used by ``engine.session.effect_runner``; ``engine.request.context`` reads the log.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.catalogue.external_agents import is_client, is_external_agent
from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.engine_settings import EngineSettings
from jupyter_ai_shoulders.engine.environment.attachments import (
    AttachmentRecord,
    describe_attachment,
)
from jupyter_ai_shoulders.engine.environment.snapshot import (
    EmptyEnvironment,
    InstructionSet,
    MemorySnapshot,
)
from jupyter_ai_shoulders.engine.environment.workspace_facts import MetaRecord
from jupyter_ai_shoulders.engine.loop.operations import (
    PrepareRequest,
    RequestOverflowed,
    RequestPrepared,
)
from jupyter_ai_shoulders.engine.loop.state import TurnState
from jupyter_ai_shoulders.engine.ports import Environment
from jupyter_ai_shoulders.engine.request.compaction import measure_request, overflow_signal
from jupyter_ai_shoulders.engine.request.context import (
    SECRET,
    SKILLS,
    SYSTEM,
    TOOLS,
    WORKSPACE,
    ZONE,
    Entry,
    RequestContent,
    SessionContext,
    output_reserve,
    read_entry,
    tools_blob,
    unreviewed_entry,
    zone_blob,
)
from jupyter_ai_shoulders.engine.request.context_sources import (
    CapturedAttachment,
    GatheredContext,
    PromptTexts,
    collect_facts,
    data_limit,
    gather_context,
    read_instruction_set,
)
from jupyter_ai_shoulders.engine.request.memory_facts import memory_facts, unreviewed_memory
from jupyter_ai_shoulders.engine.request.session_index import SessionIndex
from jupyter_ai_shoulders.engine.request.system_prompt import (
    prompt_sections,
    system_prompt,
)
from jupyter_ai_shoulders.engine.transcript.step_notice import step_notice
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.storage.base import Blobs
from jupyter_ai_shoulders.tools.agent.withheld_tools import withheld_tools
from jupyter_ai_shoulders.tools.base import Category
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.tools.proposals.propose_edit import PROPOSE_EDIT
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import ContextAdd, ContextRebase, Event, Notice
from jupyter_ai_shoulders.wire.ids import BlobHash, SessionId
from jupyter_ai_shoulders.wire.parts import ToolDefinition
from jupyter_ai_shoulders.wire.sessions import Session

Tools = tuple[ToolDefinition, ...]
Role = Literal["system", "instructions", "tools", "meta", "attachment", "skill"]
_SETS_KEPT = 16


class ToolEncodingCache:
    """The encoded tool sets of recent requests, shared by all sessions.

    A registry returns the same definition objects every time, so sets are compared by identity.
    """

    def __init__(self) -> None:
        self._encoded: OrderedDict[tuple[int, ...], tuple[Tools, bytes]] = OrderedDict()

    def blob(self, tools: Tools) -> bytes:
        """Return the definitions as canonical JSON."""
        key = tuple(map(id, tools))
        if key not in self._encoded:
            self._encoded[key] = (tools, tools_blob(tools))  # a stored object keeps its id
            if len(self._encoded) > _SETS_KEPT:
                self._encoded.popitem(last=False)
        return self._encoded[key][1]


@dataclass(frozen=True, slots=True)
class RequestBuilder:
    """The dependencies of the requests of one session."""

    context: SessionContext
    index: SessionIndex
    record: Callable[[Event], None]
    blobs: Blobs
    tools: ToolRegistry
    rules: PermissionStore
    clock: Clock
    settings: EngineSettings
    encoded: ToolEncodingCache
    environment: Environment = field(default_factory=EmptyEnvironment)
    stored: dict[Entry, tuple[bytes, BlobHash]] = field(
        default_factory=dict[Entry, tuple[bytes, BlobHash]]
    )
    """The last stored content of each entry; most turns change none."""
    reported: set[str] = field(default_factory=set[str])
    """Problems that were reported to the user."""

    async def build(
        self, operation: PrepareRequest, turn: TurnState, session: Session, spec: ModelSpec
    ) -> tuple[ModelRequest, RequestPrepared | RequestOverflowed]:
        """Return the request and whether it fits."""
        if is_client(turn.model):
            return _client_request(spec, session, turn, operation.step)
        new = self.context.unsettled()
        # A resumed turn may have switched the model.
        switched = self.index.sent_model not in {None, turn.model}
        if operation.fresh or new or switched:
            around = await gather_context(self.environment, session, new, images=spec.images)
            if is_external_agent(turn.model):
                self._enter_message_context(around, spec)
            else:
                self._enter_context(operation, turn, session, spec, around)
        notice = step_notice(operation.step, turn.step_limit)
        notices = (notice,) if notice else ()
        wanted = operation.fresh and self.index.compaction_wanted
        measured = await measure_request(
            self.context, spec, self.index.correction, notices, refused=wanted
        )
        built, root = measured.built, self.index.root
        request = _request(built, spec, session, turn, operation.step, cache_key=root or session.id)
        if measured.tokens > measured.budget:
            return request, await overflow_signal(measured, spec)
        if wanted and measured.compactable:
            return request, replace(await overflow_signal(measured, spec), wanted=True)
        return request, RequestPrepared(measured.tokens, spec.window)

    def _enter_context(
        self,
        operation: PrepareRequest,
        turn: TurnState,
        session: Session,
        spec: ModelSpec,
        around: GatheredContext,
    ) -> None:
        """Log new or changed context besides the conversation.

        Within a turn, only context of a steering message enters. The beginning of the request waits
        for the next turn, so that sent bytes do not change.
        """
        texts = read_instruction_set(around.instructions)
        unreviewed = (*texts.unreviewed, *unreviewed_memory(around.memory, spec.window))
        texts = replace(texts, unreviewed=unreviewed)
        disabled = self.rules.disabled
        if operation.fresh:
            first = self.context.entered(SYSTEM) is None
            if first:
                self._enter_system_prompt(session, around.instructions, spec, disabled)
            self._enter_instruction_set(texts, around.instructions, is_first=first)
        self._enter_enclosed(around)
        switched = self._note_model_change(turn)
        if operation.fresh or switched:
            self._enter_tools(self._definitions(turn, session, spec, disabled))
            self._drop_superseded()
        self._enter(ZONE, zone_blob(self.clock.now()))
        self._enter_facts(around, texts, spec.window)
        for item in texts.unreviewed:  # so that the log shows that the conversation has read it
            self._enter(unreviewed_entry(item.source), item.text.encode())
        for path in dict.fromkeys(fact.path for fact in around.situation.facts if fact.text):
            if path is not None:
                self._enter(read_entry(path), b"")

    def _enter_message_context(self, around: GatheredContext, spec: ModelSpec) -> None:
        """Log what belongs to the message; agents of others have their own guidance and tools."""
        if self.context.entered(SECRET) is None:
            self._enter(SECRET, secrets.token_hex(8).encode())
        self._enter_enclosed(around)
        around = replace(around, memory=MemorySnapshot())  # they have a memory of their own
        self._enter_facts(around, PromptTexts({}, "", (), ()), spec.window)

    def _enter_system_prompt(
        self,
        session: Session,
        instructions: InstructionSet | None,
        spec: ModelSpec,
        disabled: frozenset[str],
    ) -> None:
        prompt = system_prompt(
            session.created_at,
            self.settings.workspace,
            instructions.locale if instructions else "",
            self._not_loaded(session, spec, disabled),
            sections=prompt_sections(session),
        )
        self._enter(SYSTEM, prompt.encode())

    def _enter_instruction_set(
        self, texts: PromptTexts, found: InstructionSet | None, *, is_first: bool
    ) -> None:
        """Log skills and instructions; changed instructions cause a rebase.

        Files that could not be read now keep their last content.
        """
        if self.context.entered(SECRET) is None:
            self._enter(SECRET, secrets.token_hex(8).encode())
        for problem in texts.problems:
            self._notify("instructions", problem)
        if found is not None:
            self._enter_instructions(texts, is_first=is_first)

    def _enter_instructions(self, texts: PromptTexts, *, is_first: bool) -> None:
        wanted: dict[Entry, str] = {SKILLS: texts.manifest}
        wanted |= {("instructions", source): text for source, text in texts.system.items()}
        stands = self.context.instructions()
        wanted = {**dict.fromkeys(stands, ""), **wanted}
        changes = {
            entry: text
            for entry, text in wanted.items()
            if (entry in stands or text) and stands.get(entry) != self._put(entry, text.encode())
        }
        if changes and not is_first:
            replaced: JsonObject = {
                source: [stands.get((role, source)), self._put((role, source), text.encode())]
                for (role, source), text in changes.items()
            }
            self.record(ContextRebase(reason="instructions", replaced=replaced))
        for entry, text in changes.items():
            self._enter(entry, text.encode())

    def _enter_enclosed(self, around: GatheredContext) -> None:
        for item in around.attached:
            self._enter_attachment(item)
        for record in around.skills:
            blob = self.blobs.put(record.model_dump_json().encode())
            self.record(ContextAdd(role="skill", source=record.name, blob=blob))

    def _enter_attachment(self, item: CapturedAttachment) -> None:
        what, captured = describe_attachment(item.attachment), item.captured
        record = AttachmentRecord(
            message_id=item.message_id,
            index=item.index,
            content=captured.content,
            note=captured.note,
        )
        blob = self.blobs.put(record.model_dump_json().encode())
        self.record(ContextAdd(role="attachment", source=what, blob=blob, seen=captured.seen))
        if captured.warn and captured.note:
            text = f"Attached {what}: {captured.note.rstrip('.')}."
            self.record(Notice(level="warning", code="attachment", text=text))

    def _drop_superseded(self) -> None:
        keys = self.context.superseded()
        if keys:
            replaced: JsonObject = dict.fromkeys(keys, "a later copy")
            self.record(ContextRebase(reason="attachment", replaced=replaced))

    def _enter_facts(self, around: GatheredContext, texts: PromptTexts, window: int) -> None:
        messages = [message for message, _ in self.context.unsettled()]
        if not messages:
            return
        context = next((m.context for m in reversed(messages) if m.context is not None), None)
        facts = collect_facts(around.situation, texts, context, data_limit(window))
        facts += memory_facts(around.memory, messages, self.context.facts, window)
        for problem in around.memory.problems if around.memory else ():
            self._notify("memory", problem)
        if facts or self.context.entered(WORKSPACE) is not None:
            self._enter(WORKSPACE, MetaRecord(facts=facts).model_dump_json().encode())

    def _notify(self, code: str, problem: str) -> None:
        """Notify the user, once while the session is in memory."""
        if problem not in self.reported:
            self.reported.add(problem)
            self.record(Notice(level="warning", code=code, text=problem))

    def _definitions(
        self, turn: TurnState, session: Session, spec: ModelSpec, disabled: frozenset[str]
    ) -> Tools:
        if not spec.tools or session.tools == "disabled":
            return ()
        loaded = frozenset(self.index.loaded)
        disabled |= withheld_tools(session)
        if session.anchor is None:
            disabled |= {PROPOSE_EDIT}
        else:
            loaded |= {"threads"}
        return self.tools.definitions(session.toolset, turn.mode, disabled, loaded)

    def _not_loaded(
        self, session: Session, spec: ModelSpec, disabled: frozenset[str]
    ) -> Sequence[Category]:
        """Return the categories to name in the system prompt, which stays as first made."""
        if not spec.tools or session.tools == "disabled":
            return ()
        return self.tools.loadable(session.toolset, "ask", disabled)

    def _enter_tools(self, tools: Tools) -> None:
        before = self.context.entered(TOOLS)
        if before is None and not tools:
            return
        content = self.encoded.blob(tools)
        blob = self._put(TOOLS, content)
        if before is not None and blob != before:
            self.record(ContextRebase(reason="tools", replaced={"tools": [before, blob]}))
        self._enter(TOOLS, content)

    def _note_model_change(self, turn: TurnState) -> bool:
        before = self.index.sent_model
        if before is None or before == turn.model:
            return False
        replaced: JsonObject = {"model": [before, turn.model]}
        self.record(ContextRebase(reason="model", replaced=replaced))
        return True

    def _enter(self, entry: Entry, content: bytes) -> None:
        blob = self._put(entry, content)
        if self.context.entered(entry) != blob:
            role, source = entry
            self.context.expect(blob, content)
            self.record(ContextAdd(role=cast("Role", role), source=source, blob=blob))

    def _put(self, entry: Entry, content: bytes) -> BlobHash:
        last = self.stored.get(entry)
        if last is None or last[0] != content:
            last = self.stored[entry] = (content, self.blobs.put(content))
        return last[1]


def _client_request(
    spec: ModelSpec, session: Session, turn: TurnState, step: int
) -> tuple[ModelRequest, RequestPrepared]:
    """Return a request without messages: a client has its own copy of the conversation."""
    request = ModelRequest(
        model=spec.model,
        system="",
        messages=(),
        trace_id=f"{turn.turn_id}/{step}",
        account=UsageAccount("turn", session.id, turn.turn_id),
    )
    return request, RequestPrepared(0, spec.window)


def _request(
    built: RequestContent,
    spec: ModelSpec,
    session: Session,
    turn: TurnState,
    step: int,
    *,
    cache_key: SessionId,
) -> ModelRequest:
    return ModelRequest(
        model=spec.model,
        system=built.system,
        messages=built.messages,
        tools=built.tools,
        thinking=spec.thinking,
        max_output=output_reserve(spec),
        cache_key=cache_key,
        trace_id=f"{turn.turn_id}/{step}",
        account=UsageAccount("turn", session.id, turn.turn_id),
    )
