"""Reads the texts of the magics, which are files of this package. Called by ``magics``."""

from __future__ import annotations

from importlib.resources import files

from jupyter_ai_shoulders.kernel.magic_command import Format

_PROMPTS = "jupyter_ai_shoulders.kernel.prompts"


def read_prompt(name: str) -> str:
    """Return a text of ``kernel/prompts``."""
    return (files(_PROMPTS) / f"{name}.md").read_text(encoding="utf-8").strip()


def fix_prompt(code: str, error: str, remark: str) -> str:
    """Return the prompt of ``%ai fix``."""
    asked = (
        read_prompt("fix")
        .replace("{error}", code_block(error))
        .replace("{code}", code_block(code), 1)
    )
    return f"{asked}\n\n{remark}".strip()


def explain_prompt(code: str) -> str:
    """Return the prompt of ``%ai explain``."""
    return read_prompt("explain").replace("{code}", code_block(code))


def format_prompt(prompt: str, form: Format) -> str:
    """Return the prompt with the form the answer shall have."""
    if form == "markdown":
        return prompt
    return f"{prompt}\n\n{read_prompt(f'format-{form}').replace('{language}', 'Python')}"


def code_block(code: str) -> str:
    """Return a code block that the code itself cannot end."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}\n{code.strip()}\n{fence}"
