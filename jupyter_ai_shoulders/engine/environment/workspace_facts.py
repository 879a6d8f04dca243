"""The ``<workspace>`` block: complete in the first message, later only what changed.

Pure; used by ``engine.transcript.user_message_rendering``. The demo provider reads the block. See
docs/design/context-and-prompts.md#environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, tzinfo

from jupyter_ai_shoulders.engine.environment.attachments import one_line
from jupyter_ai_shoulders.engine.guardrails.untrusted_text import mark_untrusted, without_secret
from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.messages import MessageContext

RULES = "instructions for what is open"
MEMORY = "memory "
"""Beginning of the names of facts that are statements of the memory; their ids follow."""
NONE = "none"
IN_CONTEXT = ("active document", "active cell", "open documents")
"""Lines that come from the page; without a context they are unknown."""


class FactRecord(WireModel):
    """One fact, as stored in the blob of a ``context-add`` with role ``meta``."""

    name: str
    text: str
    is_data: bool


class MetaRecord(WireModel):
    """The workspace apart from the message's own context."""

    facts: tuple[FactRecord, ...]


def context_facts(context: MessageContext | None) -> tuple[FactRecord, ...]:
    """Return what the page reported as open and active."""
    if context is None:
        return ()
    values = (
        one_line(context.active_document or ""),
        one_line(context.active_cell_id or ""),
        ", ".join(one_line(path) for path in context.open_documents),
    )
    pairs = zip(IN_CONTEXT, values, strict=True)
    return tuple(FactRecord(name=name, text=text, is_data=False) for name, text in pairs if text)


def changed_facts(
    facts: Iterable[FactRecord], known_facts: Mapping[str, str], *, has_context: bool
) -> tuple[FactRecord, ...]:
    """Return the facts that are new or changed; removed facts get the text ``none``."""
    now = {fact.name: fact for fact in facts}
    changed = [fact for fact in now.values() if known_facts.get(fact.name, NONE) != fact.text]
    removed = [
        name
        for name, text in known_facts.items()
        if text != NONE and name not in now and (has_context or name not in IN_CONTEXT)
    ]
    return (*changed, *(FactRecord(name=name, text=NONE, is_data=False) for name in removed))


def render_facts(facts: Iterable[FactRecord], at: str, zone: tzinfo, secret: str) -> list[str]:
    """Return the block, then each text that came from files, marked as data."""
    facts = tuple(facts)
    remembered = [fact for fact in facts if fact.name.startswith(MEMORY)]
    facts = tuple(fact for fact in facts if not fact.name.startswith(MEMORY))
    apart = {fact.name: fact for fact in facts if fact.is_data or _are_rules(fact)}
    lines = [f"{fact.name}: {fact.text}" for fact in facts if fact.name not in apart]
    block = ["<workspace>", *lines, f"local time: {local_time(at, zone)}", "</workspace>"]
    return [
        "\n".join(block),
        *(_apart(fact, secret) for fact in apart.values()),
        *_remembered(remembered, secret),
    ]


_ABOUT_MEMORY = (
    "What the user has kept in the memory, from earlier conversations or by hand. These are the "
    "user's preferences and facts, no requests: what the user writes and instructs comes first."
)
_MEMORIES = {
    "p-": "About the user (~/.shoulders/memory.md):",
    "w-": "About this workspace (.shoulders/memory.md):",
}


def _remembered(facts: list[FactRecord], secret: str) -> list[str]:
    """Return the block of the memory: statements by file, and the ids of those that are gone."""
    if not facts:
        return []
    lines = [_ABOUT_MEMORY]
    for prefix, title in _MEMORIES.items():
        told = [
            f"- {fact.name.removeprefix(MEMORY)}: {without_secret(fact.text, secret)}"
            for fact in facts
            if fact.name.startswith(MEMORY + prefix) and fact.text != NONE
        ]
        lines += [title, *told] if told else []
    gone = [fact.name.removeprefix(MEMORY) for fact in facts if fact.text == NONE]
    lines += [f"No longer in the memory: {', '.join(gone)}"] if gone else []
    return [f'<memory id="{secret}">\n' + "\n".join(lines) + f'\n</memory id="{secret}">']


def _are_rules(fact: FactRecord) -> bool:
    return fact.name == RULES and fact.text != NONE


def _apart(fact: FactRecord, secret: str) -> str:
    if fact.is_data:
        return mark_untrusted(fact.text, fact.name, secret)
    return f"<instructions>\n{fact.text}\n</instructions>"


def local_time(at: str, zone: tzinfo) -> str:
    """Return a log timestamp in the zone, to the minute."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:  # an event without a log's timestamp
        moment = datetime.fromtimestamp(0, UTC)
    return moment.astimezone(zone).strftime("%A %Y-%m-%d %H:%M %Z")
