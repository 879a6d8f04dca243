"""What a model reads out of a reference list entry or the first page of a paper.

The port, implemented in ``assist``, and the rule that keeps inventions out: what is not in the text
is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from jupyter_ai_shoulders.references.names import name_from_text
from jupyter_ai_shoulders.references.reference_list import folded
from jupyter_ai_shoulders.references.registers.work import RegisterWork, names_match, title_is_in
from jupyter_ai_shoulders.wire.ids import SessionId, TurnId

_FIELDS = ("volume", "number", "pages", "publisher")
ExtractedType = Literal["article", "inproceedings", "incollection", "book", "phdthesis", "misc"]


class ExtractedWork(BaseModel):
    """A work as the text describes it; empty where the text does not say."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    type: ExtractedType = "misc"
    title: str = Field(default="", max_length=1_000)
    authors: tuple[str, ...] = Field(
        default=(), max_length=200, description="In order, each as `Family, Given`."
    )
    year: str = Field(default="", max_length=20)
    venue: str = Field(
        default="", max_length=500, description="The journal, conference or book it is in."
    )
    volume: str = Field(default="", max_length=50)
    number: str = Field(default="", max_length=50)
    pages: str = Field(default="", max_length=50)
    publisher: str = Field(default="", max_length=300)
    doi: str = Field(default="", max_length=300)
    arxiv: str = Field(default="", max_length=50)
    isbn: str = Field(default="", max_length=30)


@dataclass(frozen=True, slots=True)
class Requester:
    """On whose account a model is asked."""

    session_id: SessionId | None = None
    turn_id: TurnId | None = None
    owner: str | None = None
    """The user, where calls have owners and no session determines it."""


class WorkExtractor(Protocol):
    """Reads a work out of a text; implemented by ``assist.reference_extraction``."""

    async def extract(self, text: str, requester: Requester) -> ExtractedWork:
        """Return what the text says. Raises ``ShouldersError``: no model, no budget, no answer."""
        ...


def grounded_work(found: ExtractedWork, text: str) -> RegisterWork | None:
    """Return the extracted work without anything that the text does not have.

    None if not even its title is in the text.
    """
    if not title_is_in(found.title, text):
        return None
    plain = folded(text)
    names = [name_from_text(name) for name in found.authors]
    fields = {name: getattr(found, name) for name in _FIELDS}
    container = {"article": "journal", "inproceedings": "booktitle", "incollection": "booktitle"}
    fields[container.get(found.type, "howpublished")] = found.venue
    return RegisterWork(
        source="the text",
        type=found.type,
        title=" ".join(found.title.split()),
        authors=tuple(name for name in names if names_match(name.family, text)),
        year=found.year if found.year and found.year in text else "",
        fields={name: value for name, value in fields.items() if value and folded(value) in plain},
    )
