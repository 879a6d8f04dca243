"""Settings that come with a folder, and whether the user has accepted them.

A clone, an archive or a shared drive can contain permission rules, model servers, instructions and
skills. The readers of such files (``providers.catalogue.loader``, ``tools.permissions.store``,
``host.settings.preferences``, ``host.context.instruction_cache``) ask a ``FolderTrust`` for each
item that would extend what the agent may do. Items are identified by a digest of their content, so
a changed item has no answer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from jupyter_ai_shoulders.wire.api.folder_trust import ItemKind
from jupyter_ai_shoulders.wire.base import Json

Answer = Literal["trusted", "declined"]
ItemFacts = Mapping[str, tuple[str, ...]]
"""What is kept of an item with its answer, to say later what changed."""


@dataclass(frozen=True, slots=True)
class FolderItem:
    """A setting of a folder that extends what the agent may do, as shown in the review."""

    kind: ItemKind
    name: str
    """Its subject: a tool, a provider, a setting, a path."""
    file: str
    content: str
    """The item as written in the file."""
    digest: str
    line: int | None = None
    host: str | None = None
    """Destination of text it would send, as ``host`` or ``host:port``."""
    warnings: tuple[str, ...] = ()
    facts: ItemFacts | None = None


class FolderTrust(Protocol):
    """The user's answers about the items of one folder."""

    @property
    def revision(self) -> object:
        """Return a value that changes when an answer may have changed."""
        ...

    def answer(self, digest: str) -> Answer | None:
        """Return the answer about an item, or None."""
        ...

    def record(self, items: Iterable[tuple[ItemKind, str, str]]) -> None:
        """Record that the user wrote these items (kind, name, digest).

        Raises ``StateUnavailable``.
        """
        ...


class TrustedFolder:
    """A folder whose settings count as the user's: the home folder, or one trusted by policy."""

    revision = None

    def answer(self, digest: str) -> Answer | None:
        del digest
        return "trusted"

    def record(self, items: Iterable[tuple[ItemKind, str, str]]) -> None:
        """Do nothing: the folder is trusted anyway."""


def is_accepted(trust: FolderTrust, digest: str) -> bool:
    """Return whether an item applies."""
    return trust.answer(digest) == "trusted"


def item_digest(kind: ItemKind, name: str, content: Json) -> str:
    """Return the SHA-256 of an item, independent of key order and white space in its file."""
    canonical = json.dumps([kind, name, content], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def format_json_for_review(value: Json) -> str:
    """Format a JSON value for the review."""
    return json.dumps(value, ensure_ascii=False, indent=2)
