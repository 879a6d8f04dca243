"""The tool that reads the outputs of a cell, as text or as an image."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Literal

from pydantic import Field

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.notebook.outputs.text import whole_text
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    refusal,
    text_content,
)
from jupyter_ai_shoulders.tools.notebook.access import (
    LocatedCell,
    NotebookAccess,
    file_name,
    no_such_cell,
)
from jupyter_ai_shoulders.tools.notebook.output_images import OutputImageExtractor, is_image_output
from jupyter_ai_shoulders.tools.notebook.output_limits import bounded_outputs
from jupyter_ai_shoulders.tools.read_output import read_page
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope


class ReadCellOutputArguments(ToolArguments):
    """Arguments of ``read_cell_output``."""

    path: str = Field(description="Workspace-relative path of the notebook.")
    cell_id: CellId = Field(description="Id of the code cell.")
    index: int | None = Field(
        default=None, ge=0, description="Which output, from 0; none: all as text, or the last one."
    )
    offset: int | None = Field(
        default=None, ge=0, description="The character to begin at, as the last page says."
    )
    form: Literal["text", "image"] | None = Field(
        default=None, alias="as", description="text (default), or image to look at a picture."
    )


class ReadCellOutput(BaseTool[ReadCellOutputArguments]):
    """Shows the complete text output of a cell, page by page, or its image."""

    name = "read_cell_output"
    category = "notebook"
    risk = "read"
    arguments = ReadCellOutputArguments

    def __init__(self, access: NotebookAccess, pictures: OutputImageExtractor) -> None:
        self._access = access
        self._pictures = pictures

    async def subject(self, args: ReadCellOutputArguments, context: CallContext) -> CallSubject:
        place = await self._access.find_cell(args.path, args.cell_id)
        path = place.snapshot.path
        return CallSubject(
            title=f"Read the output of cell {place.number}",
            target_label=file_name(path),
            target=Target(path=path, cell_id=place.cell.id),
            in_page=self._access.in_page(path),
        )

    async def run(
        self, args: ReadCellOutputArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        place = await self._find_cell(args)
        outputs = place.cell.outputs or ()
        if not outputs:
            yield refusal(f"{place.label} has no outputs.", "Run it with run_cell.", "not_found")
        elif args.index is not None and args.index >= len(outputs):
            yield refusal(
                f"{place.label} has {len(outputs)} outputs; none has the index {args.index}.",
                "The first one is 0.",
            )
        elif args.form == "image":
            yield await self._image(place, outputs, args.index)
        else:
            yield _page(place, outputs, args)

    async def _find_cell(self, args: ReadCellOutputArguments) -> LocatedCell:
        notebook = await self._access.open(args.path)
        snapshot = await notebook.read([args.cell_id])
        position = snapshot.position(args.cell_id)
        if position is None:
            raise no_such_cell(snapshot, args.cell_id)
        place = LocatedCell(notebook, snapshot, snapshot.cells[position], position + 1)
        if place.cell.cell_type != "code":
            raise InvalidRequest(f"{place.label} is a {place.cell.cell_type} cell: no outputs.")
        return place

    async def _image(
        self, place: LocatedCell, outputs: Sequence[JsonObject], index: int | None
    ) -> Result:
        drawable = [at for at, output in enumerate(outputs) if is_image_output(output)]
        at = index if index is not None else (drawable[-1] if drawable else None)
        if at is None or at not in drawable:
            return refusal(f"{place.label} has no picture there.", "Read it as text.")
        path, cell_id = place.snapshot.path, place.cell.id
        pictures = await self._pictures.extract(path, cell_id, outputs, only=at)
        if not pictures.parts:
            return refusal(" ".join(pictures.notes), "Read it as text.")
        heading = f"Output {at} of {place.label}"
        return Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="outputs",
                data={
                    "path": path,
                    "cell_id": cell_id,
                    "index": at,
                    "outputs": bounded_outputs([outputs[at]]),
                },
                meta=ResultMeta(total=len(outputs)),
            ),
            content=(*text_content(heading), *pictures.parts),
        )


def _page(
    place: LocatedCell, outputs: Sequence[JsonObject], args: ReadCellOutputArguments
) -> Result:
    chosen = range(len(outputs)) if args.index is None else [args.index]
    text = "\n".join(
        f"--- output {at} · {outputs[at].get('output_type')}\n{whole_text(outputs[at])}"
        for at in chosen
    )
    offset = args.offset or 0
    if offset and offset >= len(text):
        return refusal(
            f"There are {len(text)} characters; none is at {offset}.", "Read from a smaller offset."
        )
    page = read_page(text, offset)
    more = page.next_offset
    end = "the end" if more is None else f"next offset: {more}"
    heading = (
        f"{place.label} · {len(outputs)} output{'s' * (len(outputs) != 1)} · characters "
        f"{page.offset}-{page.end} of {page.total_characters} · {end}"
    )
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="outputs",
            data={
                "path": place.snapshot.path,
                "cell_id": place.cell.id,
                "index": args.index,
                "offset": page.offset,
                "next_offset": more,
                "characters": page.total_characters,
                "outputs": bounded_outputs([outputs[at] for at in chosen]),
            },
            meta=ResultMeta(total=len(outputs), truncated=more is not None),
        ),
        content=text_content(f"{heading}\n{page.text}"),
    )
