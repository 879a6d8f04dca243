"""Reads the texts of the magics, which are files of this package. Called by ``magics``."""

from __future__ import annotations

from importlib.resources import files

from jupyter_ai_shoulders.kernel.command import Format

_PROMPTS = "jupyter_ai_shoulders.kernel.prompts"


def text(name: str) -> str:
    """Return a text of ``kernel/prompts``."""
    return (files(_PROMPTS) / f"{name}.md").read_text(encoding="utf-8").strip()


def fix(code: str, error: str, remark: str) -> str:
    """Return the prompt of ``%ai fix``."""
    asked = text("fix").replace("{error}", fenced(error)).replace("{code}", fenced(code), 1)
    return f"{asked}\n\n{remark}".strip()


def explain(code: str) -> str:
    """Return the prompt of ``%ai explain``."""
    return text("explain").replace("{code}", fenced(code))


def in_form(prompt: str, form: Format) -> str:
    """Return the prompt with the form the answer shall have."""
    if form == "markdown":
        return prompt
    return f"{prompt}\n\n{text(f'format-{form}').replace('{language}', 'Python')}"


def fenced(code: str) -> str:
    """Return a code block that the code itself cannot end."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}\n{code.strip()}\n{fence}"
