"""The memory in a request: facts of the message, of which only new ones are sent.

Used by ``engine.request.builder``. Statements of an untrusted folder enter as its instructions do:
as data. See docs/design/context-and-prompts.md#memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from jupyter_ai_shoulders.core.memory.selection import BUDGET, select_statements, statements_cost
from jupyter_ai_shoulders.engine.environment.snapshot import (
    MemorySnapshot,
    SourceText,
)
from jupyter_ai_shoulders.engine.environment.workspace_facts import MEMORY, FactRecord
from jupyter_ai_shoulders.wire.api.model_requests import RequestMemory
from jupyter_ai_shoulders.wire.events import MessageAdd
from jupyter_ai_shoulders.wire.hidden_characters import legible

FILE = ".shoulders/memory.md"
_SHARE = 8
"""A window's part for the memory, in characters per token of the window."""
_SMALLEST = 600


def memory_budget(window: int) -> int:
    """Return the most characters of statements, by the model's window (tokens)."""
    return min(BUDGET, max(window // _SHARE, _SMALLEST))


def memory_facts(
    found: MemorySnapshot | None,
    messages: Iterable[MessageAdd],
    known: Collection[FactRecord],
    window: int,
) -> tuple[FactRecord, ...]:
    """Return the statements for a request; ``known`` are the facts of the last request.

    Those of a file that cannot be read just now stay.
    """
    earlier = {
        fact.name.removeprefix(MEMORY): fact for fact in known if fact.name.startswith(MEMORY)
    }
    if found is None:
        return tuple(earlier.values())
    kept = [fact for name, fact in earlier.items() if name.startswith(found.unread)]
    text = "\n".join(message.text for message in messages)
    statements = [each.statement for each in found.statements if each.is_trusted]
    budget = memory_budget(window) - statements_cost(fact.text for fact in kept)
    selected = select_statements(statements, text, earlier, max(budget, 0))
    return (
        *kept,
        *(
            FactRecord(name=MEMORY + each.id, text=legible(each.text), is_data=False)
            for each in selected
        ),
    )


def unreviewed_memory(found: MemorySnapshot | None, window: int) -> tuple[SourceText, ...]:
    """Return the statements that came with the folder as one text."""
    statements = () if found is None else found.statements
    foreign = [each.statement for each in statements if not each.is_trusted]
    chosen = select_statements(foreign, "", (), memory_budget(window))
    text = "\n".join(f"- {legible(each.text)}" for each in chosen)
    return (SourceText(FILE, text),) if text else ()


def remembered_in(facts: Iterable[FactRecord]) -> tuple[RequestMemory, ...]:
    """Return the statements among the facts of a request."""
    return tuple(
        RequestMemory(id=fact.name.removeprefix(MEMORY), text=fact.text)
        for fact in facts
        if fact.name.startswith(MEMORY)
    )
