"""Positions of task threads as reported by pages: ``POST anchors``, ``POST anchors/adopt``.

A page with an open document has the most accurate positions. The texts of an anchor are excerpts of
the document; a page truncates them to the lengths here.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, FailFast, Field

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.sessions import Anchor

LONGEST_QUOTE = 20_000
"""Maximum length of a quote in characters; a longer selection is truncated."""
LONGEST_CONTEXT = 256
"""Maximum length of the context on either side in characters."""
LONGEST_PATH = 4_096
LONGEST_ID = 256
"""Maximum length of a cell id in characters."""
MOST_ANCHORS = 1_000
"""Maximum number of threads in one request."""


def _bounded(anchor: Anchor) -> Anchor:
    """Reject anchors that no page makes; logs of earlier versions may have longer ones."""
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


RequestAnchor = Annotated[Anchor, AfterValidator(_bounded)]
"""An anchor in a request."""


class MovedAnchor(CommandModel):
    """A thread and its current position."""

    session_id: SessionId
    anchor: RequestAnchor


class MoveAnchors(CommandModel):
    """``POST anchors``: the current positions of threads; the last entry for a thread counts."""

    moved: Annotated[tuple[MovedAnchor, ...], Field(max_length=MOST_ANCHORS), FailFast()]


class RefusedAnchor(WireModel):
    """A thread whose position was rejected, and the reason."""

    session_id: SessionId
    error: ErrorInfo


class MovedAnchors(WireModel):
    """Answer to ``POST anchors``."""

    moved: tuple[SessionId, ...]
    """Threads that now have the given anchor, changed or not."""
    refused: tuple[RefusedAnchor, ...]


class ListedThread(CommandModel):
    """An entry of the thread list in a notebook's metadata."""

    id: SessionId = Field(min_length=1, max_length=LONGEST_ID)
    anchor: RequestAnchor


class AdoptThreads(CommandModel):
    """``POST anchors/adopt``: the threads listed in a document."""

    document: str = Field(min_length=1, max_length=LONGEST_PATH)
    threads: Annotated[tuple[ListedThread, ...], Field(max_length=MOST_ANCHORS), FailFast()]


class AdoptedThread(WireModel):
    """A listed thread, or its copy for a copied document."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True)

    from_: SessionId = Field(alias="from")
    to: SessionId


class AdoptedThreads(WireModel):
    """Answer to ``POST anchors/adopt``."""

    adopted: tuple[AdoptedThread, ...]
    unknown: tuple[SessionId, ...]
    """Unknown, deleted, or another user's."""
    refused: tuple[RefusedAnchor, ...]
    """Known but not adopted now, with the reason; retrying may help."""
