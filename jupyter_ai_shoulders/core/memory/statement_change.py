"""One change of a memory file, with what its undo needs. Pure; used by ``host.memory``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.core.memory.memory_text import MemoryText

Scope = Literal["person", "workspace"]


@dataclass(frozen=True, slots=True)
class StatementChange:
    """The lines of a statement before and after a change; None: it was not there."""

    scope: Scope
    id: str
    section: str
    above: str | None
    """The statement above it, to return it to its place."""
    before: str | None
    after: str | None
    was_own: bool = True
    """Whether the text before counted as the user's."""

    def inverse(self) -> StatementChange:
        """Return the change that undoes this one."""
        return replace(self, before=self.after, after=self.before, was_own=True)

    def applied(self, text: MemoryText) -> MemoryText:
        """Return the text with this change; unchanged if it is made already.

        Raises ``Conflict`` if the statement is not as this change expects it.
        """
        now = text.source(self.id)
        if _same(now, self.after):
            return text
        if not _same(now, self.before):
            raise Conflict(
                "The statement was changed since, so it stays as it is.",
                code="stale",
                hint="Edit or delete it on the Memory page.",
            )
        if self.after is None:
            return text.removed(self.id)
        if self.before is None:
            return text.with_source(self.after, self.section, self.above)
        return text.with_replaced_source(self.id, self.after)


def _same(one: str | None, other: str | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.rstrip("\r\n") == other.rstrip("\r\n")
