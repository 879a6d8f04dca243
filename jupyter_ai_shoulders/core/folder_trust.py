"""Settings that a folder brings along, and whether the person has accepted them.

A clone, an archive or a shared drive can carry permission rules, model servers, instructions and
skills. Whatever reads such a file (``providers.catalogue.loader``, ``tools.permissions.store``,
``host.settings.preferences``, ``host.context.instruction_cache``) asks a ``FolderTrust`` for each
item that would extend what the agent may do. Items are identified by a digest of their content, so
a changed item has no answer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from jupyter_ai_shoulders.wire.api.folder_trust import ItemKind
from jupyter_ai_shoulders.wire.base import Json

Answer = Literal["trusted", "declined"]


@dataclass(frozen=True, slots=True)
class FolderItem:
    """One setting of a folder that extends something, as the review shows it."""

    kind: ItemKind
    name: str
    """What it is about: a tool, a provider, a setting, a path."""
    file: str
    content: str
    """The item as it is in the file."""
    digest: str
    line: int | None = None
    host: str | None = None
    """Where it would send text, as ``host`` or ``host:port``."""
    warnings: tuple[str, ...] = ()


class FolderTrust(Protocol):
    """The person's answers about the items of one folder."""

    @property
    def revision(self) -> object:
        """Return a value that changes whenever an answer may have changed."""
        ...

    def answer(self, digest: str) -> Answer | None:
        """Return the answer about an item, None when there is none."""
        ...

    def record(self, items: Iterable[tuple[ItemKind, str, str]]) -> None:
        """Store that the person wrote these items (kind, name, digest) themselves.

        Raises ``StateUnavailable``.
        """
        ...


class TrustedFolder:
    """A folder whose settings count as the person's own: their home, or one trusted by policy."""

    revision = None

    def answer(self, digest: str) -> Answer | None:
        """Return that it is trusted."""
        del digest
        return "trusted"

    def record(self, items: Iterable[tuple[ItemKind, str, str]]) -> None:
        """Store nothing: it is trusted anyway."""


def is_accepted(trust: FolderTrust, digest: str) -> bool:
    """Return whether an item applies."""
    return trust.answer(digest) == "trusted"


def item_digest(kind: ItemKind, name: str, content: Json) -> str:
    """Return the SHA-256 of an item, independent of key order and white space in its file."""
    canonical = json.dumps([kind, name, content], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def format_json_for_review(value: Json) -> str:
    """Return a JSON value as the review shows it."""
    return json.dumps(value, ensure_ascii=False, indent=2)
