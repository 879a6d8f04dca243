"""The tool that changes fields of a bibliography's entry."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from pydantic import Field

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.references.bibtex.bibliography import parse_bibliography
from jupyter_ai_shoulders.references.bibtex.editing import edit_entry
from jupyter_ai_shoulders.references.latex_text import escaped_latex
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    ToolArguments,
)
from jupyter_ai_shoulders.tools.editing.diff import bounded_diff
from jupyter_ai_shoulders.tools.editing.text_replacement import Replacement
from jupyter_ai_shoulders.tools.editing.three_way_merge import MergedText, RequestedEdit
from jupyter_ai_shoulders.tools.files.access import TextFileAtPath
from jupyter_ai_shoulders.tools.files.read_tracking import FileReadTracker
from jupyter_ai_shoulders.tools.files.write import change_subject, write_change
from jupyter_ai_shoulders.tools.notebook.access import failure_result
from jupyter_ai_shoulders.tools.references.library import BibliographyText, Library
from jupyter_ai_shoulders.tools.references.read import no_such_key
from jupyter_ai_shoulders.wire.errors import ErrorInfo


class EditReferenceArguments(ToolArguments):
    """Arguments of ``edit_reference``."""

    key: str = Field(min_length=1, max_length=256, description="The citation key; it stays.")
    fields: dict[Annotated[str, Field(min_length=1, max_length=64)], str | None] = Field(
        min_length=1,
        max_length=100,
        description="New values by field, such as {'year': '2020'}; null removes a field.",
    )

    def change(self, key: str) -> RequestedEdit:
        """Return the requested edit of a bibliography's text."""
        values = {
            name: value if value is None else escaped_latex(value, name)
            for name, value in self.fields.items()
        }
        return RequestedEdit(
            lambda text: Replacement(edit_entry(parse_bibliography(text), key, values))
        )


class EditReference(BaseTool[EditReferenceArguments]):
    """Changes fields of an entry; every other byte of the file stays."""

    name = "edit_reference"
    category = "references"
    risk = "write"
    arguments = EditReferenceArguments

    def __init__(self, library: Library, versions: FileReadTracker) -> None:
        self._library = library
        self._versions = versions

    async def subject(self, args: EditReferenceArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with its diff to the current file."""
        file, key = await self._file(args.key)
        existing = await self._existing(file)
        edit = await asyncio.to_thread(
            self._versions.merge, args.change(key), existing.snapshot, context
        )
        after = edit.text if isinstance(edit, MergedText) else None
        diff = None
        if after is not None:
            diff = await asyncio.to_thread(bounded_diff, existing.snapshot.text, after)
        return change_subject(
            existing,
            f"Edit the reference {key}",
            after,
            diff,
            "diff",
            dry=False,
            in_page=self._library.in_page(existing.path),
        )

    async def run(
        self, args: EditReferenceArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Change the entry. Raises ``NotFound``, ``InvalidRequest``, ``Conflict`` (broken)."""
        file, key = await self._file(args.key)
        existing = await self._existing(file)
        if context.seen.get((existing.path, None)) is None:
            yield self._unread(file, key)
            return
        yield await write_change(
            self._library.access,
            self._versions,
            existing,
            args.change(key),
            context,
            dry=False,
        )

    def _unread(self, file: BibliographyText, key: str) -> Result:
        entry = file.content.find(key)
        assert entry is not None, "it was found above"
        return failure_result(
            ErrorInfo(
                code="not_read",
                message=f"The entry {key} was not read in this conversation yet;"
                " nothing was changed.",
                hint="Here it is; call again if the change is still right.",
            ),
            file.content.text[entry.start : entry.end],
            seen=(self._versions.note(file.snapshot, whole=False, before=None),),
        )

    async def _file(self, key: str) -> tuple[BibliographyText, str]:
        """Return the bibliography and the key as it is written there."""
        content = await self._library.content()
        try:
            file, entry = content.find(key)
        except NotFound as error:
            raise no_such_key(content, key) from error
        return file, entry.key

    async def _existing(self, file: BibliographyText) -> TextFileAtPath:
        existing = await self._library.access.writable(file.path)
        if isinstance(existing, TextFileAtPath):
            return existing
        raise NotFound(f"{file.path} was deleted.", hint="Search for the reference again.")
