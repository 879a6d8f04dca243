"""The user's permissions, ``.shoulders/tools.json``: parsing, checking and adding rules.

``RuleBook`` is made by ``host`` with a file port; read by ``engine.approvals`` and the handler of
``tools/permissions``.
"""

from __future__ import annotations

from typing import Protocol

from jupyter_ai_shoulders.wire.api import Rule
from jupyter_ai_shoulders.wire.commands import PutPermissions, RuleBody


class PermissionsFile(Protocol):
    """The text of ``.shoulders/tools.json``."""

    def read(self) -> str | None:
        """Return the text, or None when there is no file. Raises ``StateUnavailable``."""
        ...

    def write(self, text: str) -> None:
        """Replace the file atomically. Raises ``StateUnavailable``."""
        ...


class RuleBook:
    """The rules in force, read again when the file changes."""

    def __init__(self, file: PermissionsFile) -> None:
        raise NotImplementedError

    @property
    def disabled(self) -> frozenset[str]:
        """Names of the tools that are neither offered nor executed."""
        raise NotImplementedError

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the file, with lines, in words for the user."""
        raise NotImplementedError

    def listing(self) -> tuple[Rule, ...]:
        """Return the rules as ``GET tools`` shows them."""
        raise NotImplementedError

    def add(self, rule: RuleBody) -> None:
        """Store one more rule. Raises ``StateUnavailable``, ``InvalidRequest``."""
        raise NotImplementedError

    def replace(self, permissions: PutPermissions) -> None:
        """Store the whole file. Raises ``InvalidRequest`` (bad rule), ``StateUnavailable``."""
        raise NotImplementedError
