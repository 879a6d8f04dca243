"""The tool that edits a Word document by its paragraphs, as tracked changes and comments."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from jupyter_ai_shoulders.core.errors import InvalidRequest, ShouldersError
from jupyter_ai_shoulders.files.base import ChangeOrigin, TextEditConflict, TextSnapshot
from jupyter_ai_shoulders.files.word.editing.edits import ParagraphEdit
from jupyter_ai_shoulders.files.word.file_names import is_word
from jupyter_ai_shoulders.files.word.word_editor import WordEdited
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Effect,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.editing.diff import bounded_diff
from jupyter_ai_shoulders.tools.files.access import (
    FileAccess,
    NothingAtPath,
    OtherFileAtPath,
    TextFileAtPath,
    origin_of,
    path_hard_link_note,
)
from jupyter_ai_shoulders.tools.files.edit import no_such_file
from jupyter_ai_shoulders.tools.files.read_tracking import FileReadTracker
from jupyter_ai_shoulders.tools.files.write import change_data, deleted_error
from jupyter_ai_shoulders.tools.notebook.access import failure_result, file_name
from jupyter_ai_shoulders.wire.ids import Version
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from jupyter_ai_shoulders.wire.versions import text_version

EDITS_LIMIT = 200
COMMENT_LIMIT = 5_000
NOT_WORD_HINT = "Use edit_file for text; ask the user to save .doc and .odt documents as .docx."


class WordDocuments(Protocol):
    """Edits documents; implemented by ``files.word.word_editor``."""

    async def preview(self, path: str, edits: Sequence[ParagraphEdit]) -> str:
        """Return the text, one line per paragraph, that a document would have."""
        ...

    async def edit(
        self, path: str, edits: Sequence[ParagraphEdit], expected: Version, origin: ChangeOrigin
    ) -> WordEdited | TextEditConflict:
        """Make all edits or none."""
        ...

    async def opened_elsewhere(self, path: str) -> str | None:
        """Return the program that seems to have a document open."""
        ...


class DocumentEdit(BaseModel):
    """One edit of a paragraph."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paragraph: int = Field(ge=1, description="Its number, as read_file shows it.")
    old_string: str = Field(
        description="The exact text in this paragraph to replace; must occur once in it. Empty "
        "only for an empty paragraph."
    )
    new_string: str = Field(
        description="What takes its place. A line break that is added begins a new paragraph. "
        "Empty for the whole text of a paragraph removes the paragraph."
    )
    comment: str | None = Field(
        default=None,
        max_length=COMMENT_LIMIT,
        description="A comment on this text; with equal strings only the comment is added.",
    )

    def paragraph_edit(self) -> ParagraphEdit:
        """Return the edit for the document."""
        return ParagraphEdit(self.paragraph, self.old_string, self.new_string, self.comment or None)


class EditDocumentFileArguments(ToolArguments):
    """Arguments of ``edit_document_file``."""

    path: str = Field(min_length=1, description="Workspace-relative path of a .docx file.")
    edits: tuple[DocumentEdit, ...] = Field(
        min_length=1,
        max_length=EDITS_LIMIT,
        description="The edits; all are made, or none. Numbers are those before the call.",
    )

    def wanted(self) -> list[ParagraphEdit]:
        """Return the edits for the document."""
        return [edit.paragraph_edit() for edit in self.edits]


class EditDocumentFile(BaseTool[EditDocumentFileArguments]):
    """Edits paragraphs of a Word document."""

    name = "edit_document_file"
    category = "word"
    risk = "write"
    arguments = EditDocumentFileArguments

    def __init__(
        self, access: FileAccess, versions: FileReadTracker, documents: WordDocuments
    ) -> None:
        self._access = access
        self._versions = versions
        self._documents = documents

    async def subject(self, args: EditDocumentFileArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with the difference of the paragraphs."""
        existing = await self._document(args)
        after: str | None = None
        try:
            after = await self._documents.preview(existing.path, args.wanted())
        except ShouldersError:
            after = None  # the call will fail and say why
        before = existing.snapshot.text
        diff = None if after is None else await asyncio.to_thread(bounded_diff, before, after)
        return CallSubject(
            title="Edit Word document",
            target_label=file_name(existing.path),
            target=Target(path=existing.path),
            preview=diff,
            language="diff",
            undoable=True,
            effect=Effect(
                before_version=existing.version,
                expected_version=None if after is None else text_version(after),
            ),
            always_ask_reason=path_hard_link_note(existing),
        )

    async def run(
        self, args: EditDocumentFileArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Make the edits. Raises what reading and editing the document raises."""
        existing = await self._document(args)
        refused = self._versions.unread_refusal(existing.snapshot, context, whole=False)
        if refused is None and not self._versions.is_current(existing.snapshot, context):
            refused = self._versions.stale_result(existing.snapshot, context)
        if refused is not None:
            yield refused
            return
        yield await self._edit(args, existing, context)

    async def _edit(
        self, args: EditDocumentFileArguments, existing: TextFileAtPath, context: CallContext
    ) -> Result:
        path = existing.path
        program = await self._documents.opened_elsewhere(path)
        outcome = await self._documents.edit(
            path, args.wanted(), existing.version, origin_of(context)
        )
        if isinstance(outcome, TextEditConflict):
            if outcome.current is None:
                return failure_result(deleted_error(path))
            return self._versions.stale_result(outcome.current, context)
        now = await self._access.texts.read(path)
        return await self._done(existing.snapshot, now, outcome, program, context)

    async def _done(
        self,
        before: TextSnapshot,
        now: TextSnapshot,
        outcome: WordEdited,
        program: str | None,
        context: CallContext,
    ) -> Result:
        path = before.path
        warning = None
        if program is not None:
            warning = (
                f"{file_name(path)} seems to be open in {program}, which may write its own version "
                "over this change."
            )
        diff = await asyncio.to_thread(bounded_diff, before.text, now.text)
        moved = before.text.count("\n") != now.text.count("\n")
        said = [
            f"{path} was changed.",
            *outcome.notes,
            *([warning] if warning else []),
            *(["Numbers of later paragraphs moved: they are as in this difference."] * moved),
            diff,
        ]
        newest = context.seen.get((path, None))
        whole = newest is not None and newest == before.version
        return Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="diff",
                data=change_data(path, before.text, now.text, diff),
                warning=warning,
            ),
            content=text_content("\n".join(said)),
            seen=(self._versions.note(now, whole=whole, before=newest),),
            after_version=now.version,
        )

    async def _document(self, args: EditDocumentFileArguments) -> TextFileAtPath:
        """Return the document. Raises ``NotFound`` and refusals."""
        there = await self._access.inspect(args.path)
        if not is_word(there.path):
            raise InvalidRequest(
                f"{there.path} is not a Word document (.docx).",
                code="invalid_arguments",
                hint=NOT_WORD_HINT,
            )
        match there:
            case TextFileAtPath():
                return there
            case NothingAtPath():
                raise await no_such_file(self._access, there.path)
            case OtherFileAtPath():
                raise there.problem
            case _:
                raise InvalidRequest(f"{there.path} is a folder.", hint="Name a file in it.")
