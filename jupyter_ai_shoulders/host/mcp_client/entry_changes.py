"""Says what changed in an entry of ``.mcp.json`` since the user's answer. Pure.

Names and commands are kept with the answer, outside the folder; values of variables and headers are
not. Used by ``host.mcp_client.configuration``.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from jupyter_ai_shoulders.core.folder_trust import ItemFacts
from jupyter_ai_shoulders.mcp_client.server_entries import ServerEntry
from jupyter_ai_shoulders.wire.hidden_characters import visible

_SHOWN = 300


def facts_of(entry: ServerEntry) -> ItemFacts:
    """Return what is kept of an entry with an answer about it."""
    return {
        "command": (entry.command, *entry.args) if entry.command else (),
        "address": (entry.url,) if entry.url else (),
        "folder": (entry.cwd,) if entry.cwd else (),
        "variables": tuple(sorted(name for name, _ in entry.env)),
        "headers": tuple(sorted(name for name, _ in entry.headers)),
    }


def changes(before: ItemFacts, now: ItemFacts) -> Iterator[str]:
    """Yield what changed, as sentences; at least one."""
    told = False
    for name, label in (("command", "command"), ("address", "address"), ("folder", "folder")):
        old, new = before.get(name, ()), now.get(name, ())
        if old != new:
            told = True
            yield f"Changed since your answer: the {label} was {_text(old)}, and is {_text(new)}."
    for name in ("variables", "headers"):
        old, new = set(before.get(name, ())), set(now.get(name, ()))
        for names, verb in ((new - old, "added"), (old - new, "removed")):
            if names:
                told = True
                shown = _cut(", ".join(sorted(names)))
                yield f"Changed since your answer: {name} were {verb}: {shown}."
    if not told:
        yield "Changed since your answer: values of variables or headers, or other fields."


def _text(words: tuple[str, ...]) -> str:
    return _cut(shlex.join(words)) if words else "none"


def _cut(text: str) -> str:
    shown = visible(text[: _SHOWN + 1])
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…"
