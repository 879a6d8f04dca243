"""The system prompt from its files, and the user's texts as they stand below it.

Used by ``prepare`` once per conversation: what was used first is logged and stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from jupyter_ai_shoulders.tools.base import Category

SECTIONS = (
    "role",
    "communication",
    "acting",
    "tools",
    "safety",
    "writing",
    "boundaries",
)
"""Files in ``prompts/``, in the order of the prompt (chapter 11)."""
INLINE_SECTIONS = ("inline", "boundaries")
"""Those of a conversation whose answers are put into the user's text (chapter 08)."""
HOLDS: Mapping[Category, str] = {
    "document": "the file that is open in front of the user",
    "workspace": "any file: read, list, search, write, move, delete, undo; commands",
    "git": "status, differences, commits",
    "threads": "tasks pinned to a place in a document",
    "feedback": "proposals that change nothing by themselves",
}
"""What the categories are for that ``tools.registry`` offers on demand."""


def system_prompt(
    started_at: str,
    workspace: str,
    locale: str = "",
    not_loaded: Sequence[Category] = (),
    *,
    sections: Sequence[str] = SECTIONS,
) -> str:
    """Return the system prompt of a conversation; it keeps its start date.

    ``not_loaded`` names categories of tools the model may load.
    """
    facts = [f"Started on {started_at[:10]}."]
    if locale:
        facts.append(f"Locale of the user's system: {locale}.")
    facts.append(f"Workspace: {workspace or '(the root of the Jupyter server)'}")
    if not_loaded:
        named = "; ".join(f"{name} ({HOLDS[name]})" for name in not_loaded)
        facts.append(f"Tools that can be loaded when needed: {named}.")
    texts = [*map(shipped_section, sections), "# This conversation\n" + "\n".join(facts)]
    return "\n\n".join(texts)


@cache
def shipped_section(name: str) -> str:
    """Return one section's text; read once, as these files only change with the program."""
    folder = resources.files("jupyter_ai_shoulders.engine") / "prompts"
    return (folder / f"{name}.md").read_text("utf-8").strip()


def instructions_text(source: str, text: str) -> str:
    """Return a file of the user's as it stands in the prompt; empty when it says nothing."""
    return f"# Instructions of the user, from {source}\n{text}" if text else ""
