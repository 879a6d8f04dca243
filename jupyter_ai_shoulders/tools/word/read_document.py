"""Shows a Word document as numbered paragraphs; used by ``read_file``."""

from __future__ import annotations

from typing import Protocol

from jupyter_ai_shoulders.files.word.rendering.outline import Outline, OutlineRange
from jupyter_ai_shoulders.tools.base import CallContext, Result, text_content
from jupyter_ai_shoulders.tools.files.access import TextFileAtPath
from jupyter_ai_shoulders.tools.files.read_tracking import FileReadTracker
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope


class WordOutlines(Protocol):
    """Reads documents; implemented by ``files.word.word_editor``."""

    async def outline(self, path: str, wanted: OutlineRange) -> Outline:
        """Return a document's numbered paragraphs. Raises ``ShouldersError``."""
        ...


async def read_word(
    documents: WordOutlines,
    versions: FileReadTracker,
    there: TextFileAtPath,
    wanted: OutlineRange,
    context: CallContext,
) -> Result:
    """Return the wanted paragraphs of a document."""
    path, snapshot = there.path, there.snapshot
    shown = await documents.outline(path, wanted)
    whole = shown.first == 1 and shown.last == shown.total
    hint = ""
    if shown.last < shown.total:
        hint = f"\n[paragraphs {shown.first}-{shown.last} of {shown.total}; read on with "
        hint += f"start_line={shown.last + 1}]"
    seen = versions.note(snapshot, whole=whole, before=context.seen.get((path, None)))
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="file",
            data={"path": path, "first_line": shown.first, "last_line": shown.last},
            meta=ResultMeta(
                total=shown.total,
                truncated=not whole or None,
                document_version=snapshot.version,
            ),
        ),
        content=text_content(f'"{path}": {shown.text}{hint}'),
        seen=(seen,) if shown.last >= shown.first or not shown.total else (),
    )
