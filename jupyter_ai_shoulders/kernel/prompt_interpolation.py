"""Puts variables into a prompt, as much of them as the egress setting lets out (chapter 11).

Called by ``magics``. ``{name}`` of a variable is replaced; other braces stay, as in JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jupyter_ai_shoulders.kernel.variable_description import describe_variable, is_secret
from jupyter_ai_shoulders.wire.api.settings import DataValues

_NAME = re.compile(r"(?<!\{)\{([A-Za-z_]\w*)\}(?!\})")
_ESCAPED = re.compile(r"\{\{([A-Za-z_]\w*)\}\}")


def interpolate(
    prompt: str, namespace: Mapping[str, Any], level: DataValues
) -> tuple[str, tuple[str, ...]]:
    """Return the prompt with its variables, and the names of those whose values stayed here.

    ``{{name}}`` is written for a ``{name}`` that stays.
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
    """Return whether the prompt names a variable: else nobody needs to know the setting."""
    return any(found[1] in namespace for found in _NAME.finditer(prompt))
