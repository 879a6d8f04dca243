"""One file of the corpus."""

from dataclasses import dataclass
from typing import Literal

Writer = Literal["nbformat", "spelled", "json", "hand"]
"""``spelled``.

By ``tests.notebook_corpus.json_writer``, in the style of another tool; ``json``: by Python's
own ``json``, as many scripts do; ``hand``: a file of ``tests/notebook_corpus/files``."""


@dataclass(frozen=True)
class Item:
    """A notebook file: its purpose, its writer, its bytes."""

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
    """A file that must never be rewritten, and the problem that the user must be told."""

    name: str
    content: bytes
    problem: str
    """A regular expression."""
    line: int = 1
    """The line of the problem; 0 when any line will do, but there must be one."""
