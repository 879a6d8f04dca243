"""Values of the ``Environment`` port: context of a conversation that is in no event.

Made by ``host.context.environment`` and by test fakes; read by ``engine.request``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.core.memory.memory_text import Statement
from jupyter_ai_shoulders.engine.environment.attachments import AttachmentContent
from jupyter_ai_shoulders.engine.environment.skills import Skill, SkillText
from jupyter_ai_shoulders.wire.messages import Attachment, MessageContext
from jupyter_ai_shoulders.wire.sessions import Session


@dataclass(frozen=True, slots=True)
class SourceText:
    """An instruction file and its workspace path."""

    source: str
    text: str


@dataclass(frozen=True, slots=True)
class InstructionSet:
    """The instructions and skills in every request of a conversation."""

    system: SourceText | None = None
    """``.shoulders/system.md``."""
    instructions: tuple[SourceText, ...] = ()
    """``_instructions.md``, then the first file found under another known name."""
    unreviewed: tuple[SourceText, ...] = ()
    """Instruction files of an untrusted folder, which enter as data."""
    skills: tuple[Skill, ...] = ()
    locale: str = ""
    problems: tuple[str, ...] = ()
    """Problems in reading the files, for the user."""


@dataclass(frozen=True, slots=True)
class WorkspaceFact:
    """One fact about the workspace; ``is_data`` marks text from files."""

    name: str
    text: str
    is_data: bool = False
    path: str | None = None
    """The document the fact comes from, possibly through its kernel."""


@dataclass(frozen=True, slots=True)
class WorkspaceSituation:
    """The workspace when a message is sent; unknown facts are absent.

    The schema of variables and stale cells are facts as well.
    """

    facts: tuple[WorkspaceFact, ...] = ()
    language: str | None = None
    """The language of the active notebook's kernel, for scoped rules."""


@dataclass(frozen=True, slots=True)
class RememberedStatement:
    """A statement of the memory; its id has the prefix of its scope."""

    scope: Literal["person", "workspace"]
    statement: Statement
    is_trusted: bool
    """Whether the user wrote or accepted it; others came with the folder."""


@dataclass(frozen=True, slots=True)
class MemorySnapshot:
    """The statements of the memory, those of the person first, in the order of the files."""

    statements: tuple[RememberedStatement, ...] = ()
    problems: tuple[str, ...] = ()
    """Problems in reading the files, for the user."""
    unread: tuple[str, ...] = ()
    """Beginnings of the ids in files that could not be read."""


class EmptyEnvironment:
    """An environment without content, for sessions without a workspace and tests."""

    async def load_instructions(self) -> InstructionSet:
        return InstructionSet()

    async def situation(self, context: MessageContext) -> WorkspaceSituation:
        del context
        return WorkspaceSituation()

    async def place(self, session: Session) -> tuple[WorkspaceFact, ...]:
        del session
        return ()

    async def capture(
        self, attachment: Attachment, session: Session, *, images: bool
    ) -> AttachmentContent | None:
        del attachment, session, images
        return None

    async def memory(self, session: Session) -> MemorySnapshot:
        del session
        return MemorySnapshot()

    async def skill(self, skill: Skill) -> SkillText | None:
        del skill
        return None
