"""Builds the system prompt from its files and the user's instructions.

Used by ``engine.request.builder`` once per conversation: the first version is logged and kept. See
docs/design/context-and-prompts.md#system-prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from jupyter_ai_shoulders.tools.base import Category
from jupyter_ai_shoulders.wire.sessions import Session

SECTIONS = (
    "role",
    "communication",
    "acting",
    "tools",
    "safety",
    "writing",
    "boundaries",
)
"""Files in ``prompts/``, in the order of the prompt."""
INLINE_SECTIONS = ("inline", "boundaries")
"""The sections for inline conversations, whose answers go into the user's text."""
SUB_AGENT = "sub_agent"
"""The section that says to whom a sub-agent answers, and how."""
HOLDS: Mapping[str, str] = {
    "document": "the file that is open in front of the user",
    "workspace": "any file: read, list, search, write, move, delete, undo; commands",
    "git": "status, differences, commits",
    "references": "bibliography: search, add by DOI or title, cite, edit",
    "web": "search the web and scientific papers; read a page by its address",
    "word": "changes in Word documents",
    "threads": "tasks pinned to a place in a document",
    "feedback": "proposals that change nothing by themselves",
    "agent": "remember or forget a statement for later conversations; sub-agents for much reading; "
    "your schedule and database where they are switched on",
}
"""The purposes of the tool categories that ``tools.registry`` loads on demand."""


def prompt_sections(session: Session) -> Sequence[str]:
    """Return the sections of a conversation's system prompt."""
    if session.toolset == "inline":
        return INLINE_SECTIONS
    return SECTIONS if session.parent is None else (*SECTIONS, SUB_AGENT)


def system_prompt(
    started_at: str,
    workspace: str,
    locale: str = "",
    not_loaded: Sequence[Category] = (),
    *,
    sections: Sequence[str] = SECTIONS,
) -> str:
    """Return the system prompt of a conversation, with its start date.

    ``not_loaded`` names tool categories the model may load.
    """
    facts = [f"Started on {started_at[:10]}."]
    if locale:
        facts.append(f"Locale of the user's system: {locale}.")
    facts.append(f"Workspace: {workspace or '(the root of the Jupyter server)'}")
    if not_loaded:
        named = "; ".join(f"{name} ({_purpose(name)})" for name in not_loaded)
        facts.append(f"Tools that can be loaded when needed: {named}.")
    texts = [*map(shipped_section, sections), "# This conversation\n" + "\n".join(facts)]
    return "\n\n".join(texts)


def _purpose(category: Category) -> str:
    """Return what a category is for; what a server says about itself is not part of the prompt."""
    return HOLDS.get(category, "tools of an MCP server that the user added")


@cache
def shipped_section(name: str) -> str:
    """Return one section's text, cached: the files only change with the program."""
    folder = resources.files("jupyter_ai_shoulders.engine") / "prompts"
    return (folder / f"{name}.md").read_text("utf-8").strip()


def instructions_text(source: str, text: str) -> str:
    """Return an instruction file as it appears in the prompt; empty for an empty file."""
    return f"# Instructions of the user, from {source}\n{text}" if text else ""
