"""Applies edits to a Word document: only the paragraphs they name change. Pure.

Run by ``files.word.worker``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal
from jupyter_ai_shoulders.files.word.editing.comment_parts import NewComment, comments_added
from jupyter_ai_shoulders.files.word.editing.edits import FoundEdit, ParagraphEdit, find_edit
from jupyter_ai_shoulders.files.word.editing.markup import Author, Ids, Markup, date_of
from jupyter_ai_shoulders.files.word.editing.paragraph_editor import ParagraphEditor
from jupyter_ai_shoulders.files.word.editing.splices import Splice, spliced
from jupyter_ai_shoulders.files.word.parsing.document import WordDocument
from jupyter_ai_shoulders.files.word.parsing.package import rewritten


@dataclass(frozen=True, slots=True)
class ChangedDocument:
    """The new bytes, and what could not be done as asked."""

    content: bytes
    notes: tuple[str, ...]


def edited(
    document: WordDocument, edits: Sequence[ParagraphEdit], author: Author
) -> ChangedDocument:
    """Return the document with all edits made, or raise and make none.

    Raises ``NotFound``, ``Conflict`` (``ambiguous``), ``InvalidRequest`` (overlapping edits, a text
    that must not change) and ``PolicyRefusal`` (a protected document).
    """
    protected = document.protection()
    if protected is not None:
        raise PolicyRefusal(protected, hint="Ask the user for a copy that may be changed.")
    if document.must_track():
        author = Author(author.name, author.date, tracked=True)
    found = [find_edit(document.paragraphs, each) for each in edits]
    _check_comments(document, found, author)
    package = document.package
    names = [*document.parts(), *package.related(package.main, "comments")]
    ids = Ids(package.tree(name) for name in names)
    comments: list[NewComment] = []
    notes: list[str] = []
    splices: dict[str, list[Splice]] = {}
    markups: dict[str, Markup] = {}
    found.sort(key=lambda each: (each.paragraph.number, each.start))
    for _, group in groupby(found, key=lambda each: each.paragraph.number):
        together = list(group)
        _check_overlap(together)
        paragraph = together[0].paragraph
        part = paragraph.part
        if part not in markups:
            markups[part] = Markup(package.read(part), package.tree(part), author, ids)
        markups[part].date = date_of(author.date, paragraph.number)
        editor = ParagraphEditor(paragraph, markups[part])
        for edit in reversed(together):
            number = None
            if edit.comment:
                number = ids.new()
                comments.append(NewComment(number, edit.comment))
            note = editor.apply(edit, number)
            notes += [] if note is None else [note]
        splices.setdefault(part, []).extend(editor.splices())
    replaced = {
        _stored(document, part): spliced(package.read(part), made) for part, made in splices.items()
    }
    if comments:
        replaced |= comments_added(package, comments, author, ids)
    return ChangedDocument(rewritten(package.content, replaced), tuple(notes))


def _check_overlap(edits: Sequence[FoundEdit]) -> None:
    for first, second in pairwise(edits):
        same = first.start == second.start and first.end == second.end
        if second.start < first.end or same:
            raise InvalidRequest(
                f"two edits of paragraph {first.paragraph.number} overlap",
                code="invalid_arguments",
                hint="Make one edit of them.",
            )


def _check_comments(document: WordDocument, edits: Sequence[FoundEdit], author: Author) -> None:
    for edit in edits:
        number = edit.paragraph.number
        if edit.comment and document.story(edit.paragraph) != "body":
            raise InvalidRequest(
                f"paragraph {number} is in a {document.story(edit.paragraph)}, where a document "
                "cannot have comments",
                code="invalid_arguments",
                hint="Leave the comment out, or comment on the paragraph that refers to it.",
            )
        if edit.comment and edit.removes and not author.tracked:
            raise InvalidRequest(
                f"paragraph {number} is removed without tracking, so it cannot have a comment",
                code="invalid_arguments",
                hint="Comment on the paragraph before it.",
            )


def _stored(document: WordDocument, name: str) -> str:
    return next(each for each in document.package.names() if each.lower() == name.lower())
