"""Expands ``${NAME}`` in the user's configuration; pure, the environment is an argument."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class MissingVariable(Exception):
    """A used variable is not set."""

    def __init__(self, name: str) -> None:
        super().__init__(f"The environment variable {name} is not set.")
        self.name = name


def expand_variables(value: Any, environ: Mapping[str, str]) -> Any:
    """Return ``value`` with the variables in all its strings replaced.

    Raises ``MissingVariable``.
    """
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: _lookup(found.group(1), environ), value)
    if isinstance(value, list):
        return [expand_variables(item, environ) for item in cast("list[Any]", value)]
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {name: expand_variables(item, environ) for name, item in items}
    return value


def variables_in(value: str) -> tuple[str, ...]:
    """Return the names of the variables used in ``value``."""
    return tuple(_VARIABLE.findall(value))


def _lookup(name: str, environ: Mapping[str, str]) -> str:
    if name not in environ:
        raise MissingVariable(name)
    return environ[name]
