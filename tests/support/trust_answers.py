"""A person's answers about a folder, in memory."""

from __future__ import annotations

from collections.abc import Iterable

from jupyter_ai_shoulders.core.folder_trust import Answer
from jupyter_ai_shoulders.wire.api.folder_trust import ItemKind


class InMemoryTrustAnswers:
    """Implements ``FolderTrust``; nothing is trusted at first."""

    def __init__(self) -> None:
        self.given: dict[str, Answer] = {}

    @property
    def revision(self) -> object:
        return tuple(self.given.items())

    def answer(self, digest: str) -> Answer | None:
        return self.given.get(digest)

    def record(self, items: Iterable[tuple[ItemKind, str, str]]) -> None:
        self.given.update((digest, "trusted") for _, _, digest in items)
