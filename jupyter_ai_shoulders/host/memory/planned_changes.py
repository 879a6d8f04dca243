"""Plans a change of a memory file, and names statements; used by ``host.memory.service``. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.core.memory.memory_text import MemoryText, Statement
from jupyter_ai_shoulders.core.memory.similarity import Like, find_like
from jupyter_ai_shoulders.core.memory.statement_change import StatementChange
from jupyter_ai_shoulders.wire.api.agent_data.memory import (
    MemoryChangeKind,
    MemoryScope,
    MemoryStatement,
)
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.versions import well_formed

PREFIX: dict[MemoryScope, str] = {"person": "p-", "workspace": "w-"}


@dataclass(frozen=True, slots=True)
class DoneChange:
    """What a change did to a file."""

    kind: MemoryChangeKind
    statement: Statement
    previous: str | None
    change: StatementChange
    near: tuple[Statement, ...] = ()


def with_statement(
    before: MemoryText, statement: Statement, scope: MemoryScope, wanted: str | None
) -> tuple[MemoryText, DoneChange]:
    """Return the text with a statement, merged with the one that it repeats or replaces."""
    like = find_like(statement.text, before.statements)
    if wanted is not None:
        named = before.get(wanted)
        if named is None:
            raise no_statement(PREFIX[scope] + wanted)
        same: Like | None = Like(named, "contradicts")
    else:
        same = next((each for each in like if each.likeness != "near"), None)
    near = tuple(
        each.statement for each in like if same is None or each.statement != same.statement
    )
    if same is None:
        after = before.added(statement)
        change = statement_change(scope, statement, before, after)
        return after, DoneChange("remembered", statement, None, change, near)
    kind: MemoryChangeKind = "repeated" if same.likeness == "repeats" else "replaced"
    merged = replace(statement, id=same.statement.id, section=same.statement.section)
    after, done = with_replacement(before, merged, scope, kind)
    return after, replace(done, near=near)


def with_replacement(
    before: MemoryText, statement: Statement, scope: MemoryScope, kind: MemoryChangeKind
) -> tuple[MemoryText, DoneChange]:
    """Return the text with a statement in the place of the one with its id."""
    previous = before.get(statement.id)
    after = before.replaced(statement.id, statement)
    change = statement_change(scope, statement, before, after)
    text = previous.text if previous is not None and previous.text != statement.text else None
    return after, DoneChange(kind, statement, text, change)


def statement_change(
    scope: MemoryScope, statement: Statement, before: MemoryText, after: MemoryText
) -> StatementChange:
    """Return the record of a change for its undo."""
    return StatementChange(
        scope,
        statement.id,
        statement.section,
        before.before(statement.id),
        before.source(statement.id),
        after.source(statement.id),
    )


def shown_statement(scope: MemoryScope, statement: Statement) -> MemoryStatement:
    """Return a statement for clients."""
    return MemoryStatement(
        id=PREFIX[scope] + statement.id,
        scope=scope,
        text=well_formed(statement.text),
        date=statement.date or None,
        session_id=SessionId(statement.session) if statement.session else None,
        section=statement.section,
        state="trusted",
    )


def split_id(statement_id: str) -> tuple[MemoryScope, str]:
    """Return scope and id in the file. Raises ``NotFound``."""
    for scope, prefix in PREFIX.items():
        if statement_id.startswith(prefix):
            return scope, statement_id.removeprefix(prefix)
    raise no_statement(statement_id)


def id_in_scope(statement_id: str, scope: MemoryScope) -> str:
    """Return the id in the file of this scope. Raises ``NotFound``, ``Conflict``."""
    found, own_id = split_id(statement_id)
    if found != scope:
        raise Conflict(
            f"{statement_id} is in the other memory.", hint=f"Use the scope {found} to replace it."
        )
    return own_id


def no_statement(statement_id: str) -> NotFound:
    """Return the error about an unknown statement."""
    return NotFound(
        f"There is no statement {statement_id[:20]} in the memory.",
        hint="It may have been removed or rewritten by hand meanwhile.",
    )
