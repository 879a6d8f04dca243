"""Where task threads are, as pages tell it (chapter 09): ``POST anchors``, ``POST anchors/adopt``.

A page that has a document open knows best where the threads in it are. The texts of an anchor are
a memory of the place, not a copy of it: a page cuts them to the lengths here.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, FailFast, Field

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.sessions import Anchor

LONGEST_QUOTE = 20_000
"""Characters of a quote; of a longer selection its beginning, up to here, is the quote."""
LONGEST_CONTEXT = 256
"""Characters of the text kept on either side of it."""
LONGEST_PATH = 4_096
LONGEST_ID = 256
"""Characters of the id of a cell."""
MOST_ANCHORS = 1_000
"""Threads in one request."""


def _bounded(anchor: Anchor) -> Anchor:
    """Refuse what no page makes; anchors in logs of earlier versions may be longer."""
    lengths = (
        ("document", anchor.document, LONGEST_PATH),
        ("cell_id", anchor.cell_id or "", LONGEST_ID),
        ("quote", anchor.quote, LONGEST_QUOTE),
        ("prefix", anchor.prefix, LONGEST_CONTEXT),
        ("suffix", anchor.suffix, LONGEST_CONTEXT),
        ("version", anchor.version or "", LONGEST_ID),
    )
    for name, text, longest in lengths:
        if len(text) > longest:
            raise ValueError(f"{name} has {len(text)} characters; at most {longest} are accepted")
    if not anchor.document:
        raise ValueError("document is empty")
    place = anchor.range
    if place is not None and not 0 <= place.from_ <= place.to:
        raise ValueError("range must not be negative, nor end before it begins")
    return anchor


GivenAnchor = Annotated[Anchor, AfterValidator(_bounded)]
"""An anchor in a request."""


class MovedAnchor(CommandModel):
    """One thread and its place now."""

    session_id: SessionId
    anchor: GivenAnchor


class MoveAnchors(CommandModel):
    """``POST anchors``: where threads are now; the last word on one of them holds."""

    moved: Annotated[tuple[MovedAnchor, ...], Field(max_length=MOST_ANCHORS), FailFast()]


class RefusedAnchor(WireModel):
    """A thread whose place was not taken, and why."""

    session_id: SessionId
    error: ErrorInfo


class MovedAnchors(WireModel):
    """Answer to ``POST anchors``."""

    moved: tuple[SessionId, ...]
    """Threads whose anchor is now the one that was given, changed or not."""
    refused: tuple[RefusedAnchor, ...]


class KeptThread(CommandModel):
    """One entry of the list a notebook carries in its metadata."""

    id: SessionId = Field(min_length=1, max_length=LONGEST_ID)
    anchor: GivenAnchor


class AdoptThreads(CommandModel):
    """``POST anchors/adopt``: the threads a document says it has."""

    document: str = Field(min_length=1, max_length=LONGEST_PATH)
    threads: Annotated[tuple[KeptThread, ...], Field(max_length=MOST_ANCHORS), FailFast()]


class AdoptedThread(WireModel):
    """Which thread stands for one of the list: itself, or its copy for a copied document."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True)

    from_: SessionId = Field(alias="from")
    to: SessionId


class AdoptedThreads(WireModel):
    """Answer to ``POST anchors/adopt``."""

    adopted: tuple[AdoptedThread, ...]
    unknown: tuple[SessionId, ...]
    """Not known here, deleted, or somebody else's."""
    refused: tuple[RefusedAnchor, ...]
    """Known, but could not be taken over now, and why; asking again may help."""
