"""Cache of recently read texts by version, so that a conflict can show all three texts.

Shared by the edit tools. A version is a hash of its text, so entries are never stale; evicted texts
and those read before a restart are missing.
"""

from __future__ import annotations

from collections import OrderedDict

from jupyter_ai_shoulders.tools.base import CallContext
from jupyter_ai_shoulders.tools.editing.three_way_merge import KnownText
from jupyter_ai_shoulders.wire.ids import CellId, Version

CHARACTER_LIMIT = 4_000_000
PART = "part:"
"""Prefix of the version of a file that was read in part."""


class ReadTextCache:
    """Keeps the newest texts, up to a number of characters."""

    def __init__(self, limit: int = CHARACTER_LIMIT) -> None:
        self._limit = limit
        self._texts: OrderedDict[Version, str] = OrderedDict()
        self._characters = 0

    def add(self, version: Version, text: str) -> None:
        """Remember a text."""
        if version in self._texts:
            self._texts.move_to_end(version)
            return
        self._texts[version] = text
        self._characters += len(text)
        while self._characters > self._limit and self._texts:
            _, forgotten = self._texts.popitem(last=False)
            self._characters -= len(forgotten)

    def get(self, version: Version | None) -> str | None:
        """Return the text of a version, None when it is not remembered."""
        return None if version is None else self._texts.get(version)


def known_text(
    texts: ReadTextCache,
    context: CallContext,
    key: tuple[str, CellId | None],
    version: Version,
    current: str,
) -> KnownText:
    """Return the conversation's versions of a text that is ``current``."""

    def text(known: Version) -> str | None:
        plain = Version(known.removeprefix(PART))
        return current if plain == version else texts.get(plain)

    newest = context.seen.get(key)
    earlier = map(text, context.earlier_versions.get(key, ()))
    return KnownText(
        None if newest is None else text(newest),
        tuple(each for each in earlier if each is not None),
        undone=key in context.undone,
    )
