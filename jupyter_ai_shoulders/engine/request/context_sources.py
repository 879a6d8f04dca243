"""Gathers the context of a request from the environment; ``engine.request.builder`` logs it.

All slow and failing work happens here, before anything is recorded; the results are values.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.engine.environment.attachments import AttachmentContent, SkillRecord
from jupyter_ai_shoulders.engine.environment.instructions import (
    FILE_LIMIT,
    ScopedInstructions,
    head_and_tail,
    read_instructions,
)
from jupyter_ai_shoulders.engine.environment.skills import (
    SKILL_LIMIT,
    Skill,
    find_named_skills,
    manifest_text,
    unreviewed_manifest,
)
from jupyter_ai_shoulders.engine.environment.snapshot import (
    InstructionSet,
    MemorySnapshot,
    SourceText,
    WorkspaceFact,
    WorkspaceSituation,
)
from jupyter_ai_shoulders.engine.environment.workspace_facts import RULES, FactRecord
from jupyter_ai_shoulders.engine.guardrails.untrusted_text import UNREVIEWED
from jupyter_ai_shoulders.engine.ports import Environment
from jupyter_ai_shoulders.engine.request.system_prompt import instructions_text
from jupyter_ai_shoulders.engine.transcript.user_message_rendering import CapturedContext
from jupyter_ai_shoulders.wire.events import MessageAdd
from jupyter_ai_shoulders.wire.ids import MessageId
from jupyter_ai_shoulders.wire.messages import Attachment, MessageContext
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.sessions import Session
from jupyter_ai_shoulders.wire.versions import well_formed

TIME_LIMIT_S = 5.0
"""Seconds to read one source; after that the request goes without it."""

_log = logging.getLogger(__name__)
ResultT = TypeVar("ResultT")
FallbackT = TypeVar("FallbackT")

New = Sequence[tuple[MessageAdd, CapturedContext]]
"""Messages that were never sent, with their captured context."""


@dataclass(frozen=True, slots=True)
class CapturedAttachment:
    """A captured attachment of a new message."""

    message_id: MessageId
    index: int
    attachment: Attachment
    captured: AttachmentContent


@dataclass(frozen=True, slots=True)
class GatheredContext:
    """All new context of a request."""

    instructions: InstructionSet | None
    """None when it could not be read: the last content stays."""
    situation: WorkspaceSituation
    attached: tuple[CapturedAttachment, ...]
    skills: tuple[SkillRecord, ...]
    memory: MemorySnapshot | None = None
    """None when it could not be read: what was told stays."""


@dataclass(frozen=True, slots=True)
class PromptTexts:
    """The user's files for the prompt, by source, and their scoped rules."""

    system: dict[str, str]
    manifest: str
    rules: tuple[tuple[str, ScopedInstructions], ...]
    problems: tuple[str, ...]
    unreviewed: tuple[SourceText, ...] = ()
    """Instructions and skills of an untrusted folder, which enter as data."""


async def gather_context(
    environment: Environment, session: Session, new: New, *, images: bool
) -> GatheredContext:
    """Return the context for messages that are about to be sent."""
    context = next((m.context for m, _ in reversed(new) if m.context is not None), None)
    instructions, memory, situation, place, attached = await asyncio.gather(
        _standing(environment),
        _memory(environment, session),
        _situation(environment, context),
        _place(environment, session),
        asyncio.gather(*_captures(environment, session, new, images=images)),
    )
    skills = await asyncio.gather(*_skills(environment, instructions, new))
    return GatheredContext(
        instructions=instructions,
        situation=replace(situation, facts=(*place, *situation.facts)),
        attached=tuple(item for item in attached if item is not None),
        skills=tuple(item for item in skills if item is not None),
        memory=memory,
    )


def read_instruction_set(instructions: InstructionSet | None) -> PromptTexts:
    """Return the texts of the user's files, and the rules in them."""
    if instructions is None:
        return PromptTexts({}, "", (), ("The instructions and skills could not be read just now.",))
    texts: dict[str, str] = {}
    rules: list[tuple[str, ScopedInstructions]] = []
    problems = list(instructions.problems)
    if instructions.system is not None:
        texts[instructions.system.source] = head_and_tail(
            instructions.system.text.strip(), FILE_LIMIT
        )
    for item in instructions.instructions:
        read = read_instructions(item.text, item.source)
        texts[item.source] = instructions_text(item.source, read.always)
        rules += ((item.source, rule) for rule in read.rules)
        problems += read.problems
    return PromptTexts(
        texts,
        manifest_text(instructions.skills),
        tuple(rules),
        tuple(problems),
        tuple(_unreviewed(instructions)),
    )


def _unreviewed(instructions: InstructionSet) -> Iterable[SourceText]:
    yield from instructions.unreviewed
    skills = unreviewed_manifest(instructions.skills)
    if skills:
        yield SourceText("skills of this folder", skills)


def data_limit(window: int) -> int:
    """Return the maximum characters of a fact from files, by the model's window (tokens)."""
    return min(max(window // 16, 600), 8_000)


def collect_facts(
    situation: WorkspaceSituation, texts: PromptTexts, context: MessageContext | None, limit: int
) -> tuple[FactRecord, ...]:
    """Return the facts to log: those of the workspace, and the rules that apply to it.

    Untrusted instructions are facts as well, marked as data. ``limit`` is the maximum characters of
    a fact from files.
    """
    unreviewed = (
        WorkspaceFact(f"{item.source} {UNREVIEWED}", item.text.strip(), is_data=True)
        for item in texts.unreviewed
    )
    facts = [
        FactRecord(
            name=fact.name, text=_whole_lines(well_formed(fact.text), limit), is_data=fact.is_data
        )
        for fact in (*unreviewed, *situation.facts)
        if fact.text
    ]
    documents = [*context.open_documents, context.active_document or ""] if context else []
    applying = [
        f"For {rule.scope} (from {source}):\n{rule.text}"
        for source, rule in texts.rules
        if rule.applies([path for path in documents if path], situation.language)
    ]
    if applying:
        facts.append(FactRecord(name=RULES, text="\n\n".join(applying), is_data=False))
    return tuple(facts)


async def _standing(environment: Environment) -> InstructionSet | None:
    return await _await_or_fallback(environment.load_instructions(), None, "The instructions")


async def _memory(environment: Environment, session: Session) -> MemorySnapshot | None:
    return await _await_or_fallback(environment.memory(session), None, "The memory")


def _whole_lines(text: str, limit: int) -> str:
    """Return the lines that fit, with a note about the rest."""
    if len(text) <= limit:
        return text
    fitting = text[:limit]
    whole, _, _ = fitting.rpartition("\n")
    return f"{whole or fitting}\n… and more"


async def _situation(
    environment: Environment, context: MessageContext | None
) -> WorkspaceSituation:
    asked = environment.situation(context or MessageContext())
    return await _await_or_fallback(asked, WorkspaceSituation(), "What the workspace is like")


async def _place(environment: Environment, session: Session) -> tuple[WorkspaceFact, ...]:
    return await _await_or_fallback(environment.place(session), (), "The place of the thread")


def _captures(
    environment: Environment, session: Session, new: New, *, images: bool
) -> Iterable[Awaitable[CapturedAttachment | None]]:
    return (
        _captured(environment, session, message.message_id, index, attachment, images=images)
        for message, enclosed in new
        for index, attachment in enumerate(message.attachments)
        if index not in enclosed.attachments
    )


async def _captured(
    environment: Environment,
    session: Session,
    message_id: MessageId,
    index: int,
    attachment: Attachment,
    *,
    images: bool,
) -> CapturedAttachment | None:
    try:
        async with asyncio.timeout(TIME_LIMIT_S):
            captured = await environment.capture(attachment, session, images=images)
    except ShouldersError as error:
        captured = AttachmentContent(note=f"not shown: {error.info.message}", warn=True)
    except TimeoutError:
        captured = AttachmentContent(note="not shown: reading it took too long", warn=True)
    return (
        None
        if captured is None
        else CapturedAttachment(message_id, index, attachment, _stored(captured))
    )


def _stored(captured: AttachmentContent) -> AttachmentContent:
    """Return the capture without lone surrogates, which the log cannot hold."""
    content = tuple(
        TextPart(text=well_formed(part.text)) if isinstance(part, TextPart) else part
        for part in captured.content
    )
    note = None if captured.note is None else well_formed(captured.note)
    return replace(captured, content=content, note=note)


def _skills(
    environment: Environment, instructions: InstructionSet | None, new: New
) -> Iterable[Awaitable[SkillRecord | None]]:
    return (
        _skill(environment, message.message_id, skill)
        for message, enclosed in new
        for skill in find_named_skills(message.text, instructions.skills if instructions else ())
        if skill.name not in {record.name for record in enclosed.skills}
    )


async def _skill(
    environment: Environment, message_id: MessageId, skill: Skill
) -> SkillRecord | None:
    found = await _await_or_fallback(environment.skill(skill), None, f"The skill {skill.name}")
    if found is None:
        return None
    text = head_and_tail(found.text, SKILL_LIMIT)
    return SkillRecord(message_id=message_id, name=skill.name, text=text, reviewed=found.reviewed)


async def _await_or_fallback(
    asked: Awaitable[ResultT], fallback: FallbackT, what: str
) -> ResultT | FallbackT:
    """Return the awaited value, or the fallback: a request must not fail for its context."""
    try:
        async with asyncio.timeout(TIME_LIMIT_S):
            return await asked
    except (ShouldersError, TimeoutError) as error:
        _log.warning("%s could not be read: %s", what, error or "it took too long")
        return fallback
