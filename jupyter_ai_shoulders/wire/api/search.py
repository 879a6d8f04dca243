"""Search in the workspace by words and by meaning, and the state of its index."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel
from jupyter_ai_shoulders.wire.ids import CellId, MessageId, SessionId

FileKind = Literal["notebook", "code", "text", "document", "reference"]
"""``document``: a file with a preview, such as PDF or Word; ``reference``: a bibliography."""

DocumentKind = Literal[FileKind, "conversation"]

SEARCH_QUERY_LIMIT = 1_000
"""Maximum characters of a query."""
SEARCH_RESULT_LIMIT = 50
"""Maximum number of places in an answer."""


class SearchQuery(CommandModel):
    """Query arguments of ``GET search``."""

    q: str = Field(max_length=SEARCH_QUERY_LIMIT)
    path: str = Field(default="", max_length=4096)
    """A file or folder to search in; empty: the whole workspace."""
    kind: DocumentKind | None = None
    limit: int = Field(default=20, ge=1, le=SEARCH_RESULT_LIMIT)
    by: Literal["words", "both"] = "both"
    """``words`` answers at once; ``both`` also searches by meaning, where that is set up."""
    wait_s: float = Field(default=0.25, ge=0, le=60, allow_inf_nan=False)
    """How long to wait for documents that are not indexed yet, in seconds."""


class ConversationPlace(WireModel):
    """A message of a conversation, with the reply to it."""

    session_id: SessionId
    message_id: MessageId | None
    """The user's message; None for a reply without one."""


class SearchMatch(WireModel):
    """A place that matches: a cell, a definition, a section, a paragraph, or a message."""

    path: str
    """Empty for a conversation."""
    kind: DocumentKind
    cell_id: CellId | None
    line: int
    """First line of the snippet, from 1, in the cell or file."""
    heading: str
    """The headings above it, or the name of the definition or conversation; may be empty."""
    heading_marks: tuple[tuple[int, int], ...]
    """The matching words in the heading, as in ``marks``."""
    name_marks: tuple[tuple[int, int], ...]
    """The matching words in the file's name, without its folders."""
    snippet: str
    is_output: bool
    """Whether the snippet is from the output of the cell; ``line`` is then 1."""
    marks: tuple[tuple[int, int], ...]
    """Start and end of the matching words in the snippet, in characters (code points)."""
    score: float
    """Higher is better; comparable within one answer only."""
    matched_by: Literal["words", "meaning", "both"]
    conversation: ConversationPlace | None = None


IndexState = Literal["empty", "building", "ready", "paused", "failed"]


class SearchIndexSummary(WireModel):
    """What an answer is based on: the state of the index, and how many files it lacks."""

    state: IndexState
    behind: int


class SearchResults(WireModel):
    """``GET search``, best first, one entry for each place."""

    matches: tuple[SearchMatch, ...]
    total: int
    """Places found, at most 100."""
    index: SearchIndexSummary
    warning: str | None = None
    """What the answer lacks, in words."""


class IndexProblem(WireModel):
    """A file that is not in the index though it could be, or an error of the index itself."""

    path: str | None
    """None for the index itself."""
    message: str


class SearchIndexQuery(CommandModel):
    """Query arguments of ``GET search/index``."""

    path: str = Field(default="", max_length=4096)
    """A file: the answer then explains whether it is in the index."""


class IndexedFile(WireModel):
    """Whether a file is in the index; ``reason`` why it is not."""

    path: str
    chunks: int
    reason: str | None


class EmbeddingConsent(WireModel):
    """What search by meaning would send to another machine; nothing is sent before it is allowed.

    To allow it, store the host as ``search.send_to`` in the settings.
    """

    host: str
    model: str
    chunks: int
    tokens: int
    """Estimated."""
    cost_micro_usd: int | None
    """Estimated; None where the price is not known."""


class EmbedderChoice(WireModel):
    """An embedding model that can be used now."""

    id: str
    """The value for the setting ``search.embedder``."""
    model: str
    host: str
    is_local: bool
    is_chosen: bool
    """Whether the setting names it, by this id or another one."""


class MeaningStatus(WireModel):
    """Search by meaning: the embedder, and how far its vectors are."""

    model: str | None
    """None: there is no embedder."""
    host: str | None
    is_local: bool
    store: Literal["local", "server"]
    dimension: int | None
    missing: int
    """Chunks without a vector."""
    cost_micro_usd: int | None = None
    """What embedding cost this month, in all folders of the user; None if that is not known."""
    consent: EmbeddingConsent | None
    problem: str | None
    """Why only words are searched, or what to do to search by meaning."""
    models: tuple[EmbedderChoice, ...] = ()
    """The models to choose from, the one that is chosen automatically first."""


class SearchIndexStatus(WireModel):
    """``GET search/index`` and ``POST search/index``."""

    state: IndexState
    files: int
    conversations: int
    chunks: int
    behind: int
    """Files and conversations that are new or changed and not indexed yet."""
    bytes: int
    """Size on disk."""
    problems: tuple[IndexProblem, ...]
    meaning: MeaningStatus | None = None
    """None where search by meaning is switched off."""
    file: IndexedFile | None = None
    """The answer for the file in the query."""


class PostSearchIndex(CommandModel):
    """``POST search/index``."""

    action: Literal["rebuild", "pause", "resume", "clear"]
    """``clear`` deletes the index; the next search builds it again."""
