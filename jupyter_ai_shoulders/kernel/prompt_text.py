"""Builds the prompts of the magics: variables of the kernel, and texts of ``kernel/prompts``.

Called by ``magics``. ``{name}`` of a variable is replaced, as far as the egress setting allows;
other braces stay, as in JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from jupyter_ai_shoulders.client.lazy_imports import wire
from jupyter_ai_shoulders.kernel.magic_command import Format
from jupyter_ai_shoulders.kernel.variable_description import describe_variable, is_secret

_NAME = re.compile(r"(?<!\{)\{([A-Za-z_]\w*)\}(?!\})")
_ESCAPED = re.compile(r"\{\{([A-Za-z_]\w*)\}\}")


_PROMPTS = "jupyter_ai_shoulders.kernel.prompts"


def interpolate(
    prompt: str, namespace: Mapping[str, Any], level: wire.DataValues
) -> tuple[str, tuple[str, ...]]:
    """Return the prompt with its variables, and the names of those whose values were withheld.

    ``{{name}}`` becomes a literal ``{name}``.
    """
    withheld: dict[str, None] = {}

    def filled(found: re.Match[str]) -> str:
        name = found[1]
        if name not in namespace:
            return found[0]
        if level == "schema_only" or is_secret(name):
            withheld[name] = None
        return describe_variable(name, namespace[name], level)

    return _ESCAPED.sub(r"{\1}", _NAME.sub(filled, prompt)), tuple(withheld)


def has_placeholders(prompt: str, namespace: Mapping[str, Any]) -> bool:
    """Return whether the prompt names a variable: only then the setting matters."""
    return any(found[1] in namespace for found in _NAME.finditer(prompt))


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
    """Return the prompt with an instruction for the answer's format."""
    if form == "markdown":
        return prompt
    return f"{prompt}\n\n{read_prompt(f'format-{form}').replace('{language}', 'Python')}"


def code_block(code: str) -> str:
    """Return a code block that the code itself cannot end."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}\n{code.strip()}\n{fence}"
