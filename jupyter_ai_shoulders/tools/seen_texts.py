"""The texts of the versions conversations have read lately, so that a conflict can show all three.

Shared by the notebook tools. A version is a hash of its text, so nothing here can be wrong; what
was forgotten, or read before a restart, is simply not there.
"""

from __future__ import annotations

from collections import OrderedDict

from jupyter_ai_shoulders.wire.ids import Version

CHARACTER_LIMIT = 4_000_000


class SeenTexts:
    """Remembers the newest texts, up to a number of characters."""

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
