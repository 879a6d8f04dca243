"""Merges an edit into a text that the user may have changed since the model read it. Pure.

Used by the tools that edit or propose edits of cells and files. Merges three texts: the one the
conversation has read, the current one, and the one the model wants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.redaction.redactor import MASK, Redactor
from jupyter_ai_shoulders.core.text_merge import line_changes, merge_texts, merge_words
from jupyter_ai_shoulders.tools.editing.diff import bounded_diff
from jupyter_ai_shoulders.tools.editing.text_replacement import AmbiguousMatch, NoMatch, Replacement

ATTEMPTS = 3
"""Attempts to merge an edit while the user types between read and write."""
NOW_READS = "It was changed since you read it. It now reads as follows."
SAME_LINES = "You and the agent changed the same lines."
"""The reason shown to the user when an edit becomes a proposal."""
SHOWN_CHARACTERS = 8_000
"""Most characters of the user's changes in a result; for more, it says to read again."""


@dataclass(frozen=True, slots=True)
class RequestedEdit:
    """The edit the model requested."""

    applied_to: Callable[[str], Replacement | NoMatch | AmbiguousMatch]
    """Returns a text after the edit."""
    whole: bool = False
    """Whether it replaces the whole text, so that it does not show which text it was made for."""


@dataclass(frozen=True, slots=True)
class KnownText:
    """The versions of a text that the conversation has read and the cache still has."""

    read: str | None = None
    """The text it has last read or written."""
    earlier: tuple[str, ...] = ()
    """Texts it read before, newest first."""
    undone: bool = False
    """Whether the user undid the model's changes to the text since the model read it."""


@dataclass(frozen=True, slots=True)
class MergedText:
    """The edit can be applied."""

    text: str
    """The text after it, with all changes of the user."""
    base: str
    """The text the edit was applied to."""
    expected: str
    """The text the model expects after its edit, without further changes of the user."""

    @property
    def hides_secret(self) -> bool:
        """Return whether the mask of a secret would replace the secret."""
        return _masks(self.expected) > _masks(self.base)


@dataclass(frozen=True, slots=True)
class ConflictingEdit:
    """The user and the model changed the same place; becomes a proposal from ``old`` to ``new``."""

    old: str
    new: str

    @property
    def hides_secret(self) -> bool:
        """Return whether the mask of a secret would replace the secret."""
        return _masks(self.new) > _masks(self.old)


@dataclass(frozen=True, slots=True)
class MissingBaseText:
    """A whole text was given, and the text it was made for is no longer cached."""


UnmergedEdit = ConflictingEdit | NoMatch | AmbiguousMatch | MissingBaseText
MergeOutcome = MergedText | UnmergedEdit


def merge_edit(change: RequestedEdit, current: str, known: KnownText) -> MergeOutcome:
    """Merge an edit into the current text.

    ``old_string`` is looked up in the text that was read. It is looked up in the current text
    instead if the other is not cached, or if it occurs there as whole words but cuts a word in the
    other.
    """
    here = change.applied_to(current)
    if known.read == current:
        return _applied(here, current)
    bases = _bases(change, known)
    if change.whole and not bases:
        return MissingBaseText()
    overlap: ConflictingEdit | None = None
    for base in bases:
        wanted = _edited_text(change, base, current, here)
        if wanted is None:
            continue
        text = merge_texts(base, current, wanted)
        if text is not None:
            return MergedText(text, base, wanted)
        overlap = overlap or ConflictingEdit(base, wanted)
    if overlap is None:
        read = None if known.read is None else change.applied_to(known.read)
        # Text that was ambiguous when the model read it stays ambiguous, even if the user's edit
        # resolved it.
        return read if isinstance(read, AmbiguousMatch) else _applied(here, current)
    return _rebased_conflict(overlap, change, current, here)


def user_changes_diff(expected: str, text: str) -> str | None:
    """Return the user's other changes, with secrets masked; None if they are too large.

    Secrets are masked before lines are selected, because a multi-line key is recognised only in
    full.
    """
    mask = Redactor().redact
    diff = bounded_diff(*(f"{mask(each)}\n" for each in (expected, text)))
    return diff if len(diff) <= SHOWN_CHARACTERS else None


def user_changes_text(diff: str | None) -> str:
    """Return the note for the model on the user's changes."""
    if diff is None:
        return "The user changed much of it since you read it; their changes stay. Read it again."
    return f"The user changed it since you read it; their changes stay:\n{diff}"


def _applied(here: Replacement | NoMatch | AmbiguousMatch, now: str) -> MergeOutcome:
    return MergedText(here.text, now, here.text) if isinstance(here, Replacement) else here


def _bases(change: RequestedEdit, known: KnownText) -> Sequence[str]:
    """Return the texts that the edit may have been made for, likeliest first."""
    newest = () if known.read is None else (known.read,)
    # A whole text made for an earlier version would restore changes that were undone since.
    earlier = known.earlier if known.undone or not change.whole else ()
    return tuple(dict.fromkeys((*newest, *earlier)))


def _edited_text(
    change: RequestedEdit, base: str, now: str, here: Replacement | NoMatch | AmbiguousMatch
) -> str | None:
    """Return the text after the edit; None if it cannot have been made for this base."""
    wanted = change.applied_to(base)
    if not isinstance(wanted, Replacement):
        return None
    is_here = isinstance(here, Replacement) and not here.cuts_word
    return None if wanted.cuts_word and is_here and base != now else wanted.text


def _rebased_conflict(
    overlap: ConflictingEdit,
    change: RequestedEdit,
    now: str,
    here: Replacement | NoMatch | AmbiguousMatch,
) -> ConflictingEdit:
    """Return the conflicting edit rebased on the current text, where that is unambiguous."""
    text = merge_words(overlap.old, now, overlap.new)
    if text is None and not change.whole and isinstance(here, Replacement):
        changes = line_changes(overlap.old, now)
        users = {line for each in changes for line in each.lines}
        text = here.text if users <= set(here.text.split("\n")) else None
    return overlap if text is None or text == now else ConflictingEdit(now, text)


def _masks(text: str) -> int:
    return text.count(MASK)
