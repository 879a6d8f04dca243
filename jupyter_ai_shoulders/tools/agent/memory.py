"""The tools that change the memory: ``remember`` and ``forget``.

They do not ask in the usual modes, since each change is shown with an undo; once the conversation
has read text that may not be the user's they ask in every mode (``tools.permissions.rules``).
``host.memory.service`` keeps the memory.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Protocol

from pydantic import Field

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.files.base import ChangeOrigin
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.files.access import origin_of
from jupyter_ai_shoulders.tools.notebook.access import failure_result
from jupyter_ai_shoulders.wire.api.agent_data.memory import (
    LONGEST_STATEMENT,
    MemoryChange,
    MemoryScope,
    MemoryStatement,
    StatementId,
    StatementText,
)
from jupyter_ai_shoulders.wire.hidden_characters import visible
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.results import ToolEnvelope

MEMORY_TOOLS = ("remember", "forget")


class Memory(Protocol):
    """The memory; implemented by ``host.memory.service``."""

    @property
    def owner_of(self) -> Callable[[SessionId], str | None]:
        """Returns the owner of a conversation, whose memory it uses."""
        ...

    async def find(self, statement_id: str, owner: str | None) -> MemoryStatement:
        """Return a statement. Raises ``ShouldersError``."""
        ...

    async def remember(
        self,
        text: str,
        scope: MemoryScope,
        origin: ChangeOrigin,
        *,
        owner: str | None,
        replaces: str | None = None,
    ) -> MemoryChange:
        """Store a statement. Raises ``ShouldersError``."""
        ...

    async def forget(
        self, statement_id: str, origin: ChangeOrigin, *, owner: str | None
    ) -> MemoryChange:
        """Remove a statement. Raises ``ShouldersError``."""
        ...


class RememberArguments(ToolArguments):
    """Arguments of ``remember``."""

    text: StatementText = Field(
        description="One short statement that stands by itself, such as `Prefers seaborn for "
        f"plots.`; at most {LONGEST_STATEMENT} characters."
    )
    scope: MemoryScope = Field(
        description="`person`: what holds for the user everywhere; `workspace`: what holds here."
    )
    replaces: StatementId | None = Field(
        default=None, description="Id of the statement that this one corrects, of the same scope."
    )


class ForgetArguments(ToolArguments):
    """Arguments of ``forget``."""

    id: StatementId = Field(description="Id of the statement, as the memory lists it.")


class Remember(BaseTool[RememberArguments]):
    """Stores a statement for later conversations."""

    name = "remember"
    category = "agent"
    risk = "write"
    arguments = RememberArguments

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def subject(self, args: RememberArguments, context: CallContext) -> CallSubject:
        """Return the exact statement."""
        return _subject(f"Remember: {visible(args.text)}", args.text)

    async def run(
        self, args: RememberArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        try:
            change = await self._memory.remember(
                args.text,
                args.scope,
                origin_of(context),
                owner=self._memory.owner_of(context.session_id),
                replaces=args.replaces,
            )
        except ShouldersError as error:
            yield failure_result(error.info)
        else:
            yield _result(change)


class Forget(BaseTool[ForgetArguments]):
    """Removes a statement."""

    name = "forget"
    category = "agent"
    risk = "write"
    arguments = ForgetArguments

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def subject(self, args: ForgetArguments, context: CallContext) -> CallSubject:
        """Return the statement that would be removed. Raises ``ShouldersError``."""
        owner = self._memory.owner_of(context.session_id)
        found = await self._memory.find(args.id, owner)
        return _subject(f"Forget: {visible(found.text)}", found.text)

    async def run(
        self, args: ForgetArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        owner = self._memory.owner_of(context.session_id)
        try:
            change = await self._memory.forget(args.id, origin_of(context), owner=owner)
        except ShouldersError as error:
            yield failure_result(error.info)
        else:
            yield _result(change)


def _subject(title: str, text: str) -> CallSubject:
    return CallSubject(
        title=title,
        target_label=None,
        target=Target(),
        preview=text,
        language="markdown",
        undoable=True,
        asks_after_foreign_text=True,
    )


_SAID = {
    "remembered": "Remembered",
    "repeated": "Known already, with today's date",
    "replaced": "Remembered",
    "edited": "Remembered",
    "forgot": "Forgot",
}


def _result(change: MemoryChange) -> Result:
    statement = change.statement
    said = [f"{_SAID[change.kind]} as {statement.id}: {statement.text}"]
    if change.previous is not None:
        said.append(f"It replaces: {change.previous}")
    if change.near:
        said.append("Near it are these; if one is no longer true, replace or forget it:")
        said += (f"- {each.id}: {each.text}" for each in change.near)
    return Result(
        envelope=ToolEnvelope(ok=True, kind="memory", data=change.model_dump(mode="json")),
        content=text_content("\n".join(said)),
    )
