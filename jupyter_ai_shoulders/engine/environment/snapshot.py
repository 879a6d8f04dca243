"""Values the ``Environment`` port gives: what is around a conversation and in no event of it.

Made by ``host.context.environment`` and by the fakes of tests; read by ``prepare``.
"""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_ai_shoulders.engine.environment.attachments import AttachmentContent
from jupyter_ai_shoulders.engine.environment.skills import Skill, SkillText
from jupyter_ai_shoulders.wire.messages import Attachment, MessageContext
from jupyter_ai_shoulders.wire.sessions import Session


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file of instructions as it stands, by its workspace path."""

    source: str
    text: str


@dataclass(frozen=True, slots=True)
class InstructionSet:
    """What is told in every request of a conversation."""

    system: SourceText | None = None
    """``.shoulders/system.md``."""
    instructions: tuple[SourceText, ...] = ()
    """``_instructions.md``, then the first found of the other names."""
    unreviewed: tuple[SourceText, ...] = ()
    """Files of instructions that came with the folder and are not trusted: they enter as data."""
    skills: tuple[Skill, ...] = ()
    locale: str = ""
    problems: tuple[str, ...] = ()
    """What could not be read, for the user."""


@dataclass(frozen=True, slots=True)
class WorkspaceFact:
    """One thing about the workspace; ``is_data`` for text that came out of files."""

    name: str
    text: str
    is_data: bool = False
    path: str | None = None
    """The document it came out of, or out of whose kernel."""


@dataclass(frozen=True, slots=True)
class WorkspaceSituation:
    """What the workspace is like as a message is sent; what is unknown is absent.

    Variables' schema and stale cells are facts like the others, once something knows them.
    """

    facts: tuple[WorkspaceFact, ...] = ()
    language: str | None = None
    """Of the active notebook's kernel, for rules scoped to it."""


class EmptyEnvironment:
    """Nothing around: sessions without a workspace, and tests of something else."""

    async def load_instructions(self) -> InstructionSet:
        """Return nothing."""
        return InstructionSet()

    async def situation(self, context: MessageContext) -> WorkspaceSituation:
        """Return nothing."""
        del context
        return WorkspaceSituation()

    async def place(self, session: Session) -> tuple[WorkspaceFact, ...]:
        """Return nothing."""
        del session
        return ()

    async def capture(
        self, attachment: Attachment, session: Session, *, images: bool
    ) -> AttachmentContent | None:
        """Return nothing: the attachment is only named."""
        del attachment, session, images
        return None

    async def skill(self, skill: Skill) -> SkillText | None:
        """Return nothing."""
        del skill
        return None
