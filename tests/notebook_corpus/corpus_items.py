"""One file of the corpus."""

from dataclasses import dataclass
from typing import Literal

Writer = Literal["nbformat", "spelled", "json", "hand"]
"""``spelled``.

By ``tests.notebook_corpus.json_writer``, in the style of another tool; ``json``: by Python's
own ``json``, as many scripts do; ``hand``: a file of ``tests/notebook_corpus/files``."""


@dataclass(frozen=True)
class Item:
    """A notebook file: what it shows, who wrote it, its bytes."""

    kind: str
    name: str
    writer: Writer
    content: bytes

    @property
    def id(self) -> str:
        """Its name in test reports."""
        return f"{self.kind}/{self.name}"


@dataclass(frozen=True)
class BrokenItem:
    """A file that must never be rewritten, and what a user must be told of it."""

    name: str
    content: bytes
    problem: str
    """A regular expression."""
    line: int = 1
    """Where it is; 0 when the exact line does not matter, but there must be one."""
