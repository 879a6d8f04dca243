"""The tool that reads the rest of a truncated output, or polls a background run.

Complete outputs are blobs. A conversation may read only those whose handles are in its own results.
Background runs have handles too.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from pydantic import Field

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.storage.base import Blobs
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
from jupyter_ai_shoulders.tools.truncation import BYTE_LIMIT, HANDLE_SHOWN, LINE_LIMIT, take_head
from jupyter_ai_shoulders.wire.ids import BlobHash, SessionId
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

READ_OUTPUT = "read_output"
RUN_PREFIX = "run_"
"""Prefix of run handles; handles of stored outputs are hexadecimal."""

PAGE_LINES = LINE_LIMIT - 10
PAGE_BYTES = BYTE_LIMIT - 1_024
"""Bytes of a page, so that it fits a result with its heading."""


RUN_WAIT_SECONDS = 30.0
"""Seconds to wait for the end of a polled run."""


class BackgroundCallReader(Protocol):
    """Reads background calls; implemented by ``engine.calls.background_tasks``."""

    async def poll(self, session_id: SessionId, handle: str, timeout_s: float) -> Result | None:
        """Return a run's final or current result, waiting up to ``timeout_s`` for its end.

        None if the session has no such run.
        """
        ...


class ReadOutputArguments(ToolArguments):
    """Arguments of ``read_output``."""

    handle: str = Field(min_length=8, max_length=64, description="As the result says.")
    offset: int = Field(
        default=0, ge=0, description="The character to begin at, as the last page says."
    )


@dataclass(frozen=True, slots=True)
class OutputPage:
    """Part of a text: characters from ``offset`` on, with its line numbers (from 1)."""

    text: str
    offset: int
    first_line: int
    total_characters: int
    total_lines: int

    @property
    def end(self) -> int:
        """Return the position after the last character."""
        return self.offset + len(self.text)

    @property
    def next_offset(self) -> int | None:
        """Return the start of the next page; None if this is the last."""
        return self.end if self.end < self.total_characters else None

    @property
    def last_line(self) -> int:
        """Return the line in which the page ends."""
        return self.first_line + self.text.removesuffix("\n").count("\n")


class ReadOutput(BaseTool[ReadOutputArguments]):
    """Pages through a truncated output."""

    name = READ_OUTPUT
    category = "planning"
    risk = "read"
    arguments = ReadOutputArguments

    def __init__(
        self,
        blobs: Blobs,
        runs: BackgroundCallReader | None = None,
        run_wait_s: float = RUN_WAIT_SECONDS,
    ) -> None:
        self._blobs = blobs
        self._runs = runs
        self._run_wait_s = run_wait_s

    async def subject(self, args: ReadOutputArguments, context: CallContext) -> CallSubject:
        return CallSubject(title="Read more of an output", target_label=None, target=Target())

    async def run(
        self, args: ReadOutputArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Read a page, or poll a run. Raises ``NotFound`` (no such handle here)."""
        if args.handle.startswith(RUN_PREFIX):
            yield await self._poll_run(args, context)
            return
        blob = _known_handle(args.handle, context)
        content = await asyncio.to_thread(self._blobs.get, blob)
        try:
            text = content.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            yield refusal("This output is not text.", "Ask the user to look at it.")
            return
        if args.offset and args.offset >= len(text):
            yield refusal(
                f"The output has {len(text)} characters; none is at {args.offset}.",
                "Read from a smaller offset.",
            )
            return
        yield _result(blob, read_page(text, args.offset))

    async def _poll_run(self, args: ReadOutputArguments, context: CallContext) -> Result:
        found = None
        if self._runs is not None:
            wait = self._run_wait_s
            found = await self._runs.poll(context.session_id, args.handle, wait)
        if found is None:
            raise NotFound(
                f"No run in this conversation has the handle {args.handle!r}.",
                hint="It ended long ago, or the server was restarted. Its cell has what it printed "
                "until then; look there before you run it again.",
            )
        return found


def read_page(text: str, offset: int) -> OutputPage:
    """Return the page at an offset; it ends at a line end unless the line is too long."""
    rest = take_head(text[offset:], PAGE_LINES, PAGE_BYTES)
    if offset + len(rest) < len(text) and "\n" in rest:
        rest = rest[: rest.rindex("\n") + 1]
    return OutputPage(
        text=rest,
        offset=offset,
        first_line=text.count("\n", 0, offset) + 1,
        total_characters=len(text),
        total_lines=text.removesuffix("\n").count("\n") + 1,
    )


def _known_handle(handle: str, context: CallContext) -> BlobHash:
    found = [blob for blob in context.handles if blob.startswith(handle)]
    if len(found) != 1:
        raise NotFound(
            f"No result in this conversation has the handle {handle!r}.",
            hint="Take the handle from a shortened result, or make that call again.",
        )
    return found[0]


def _result(blob: BlobHash, page: OutputPage) -> Result:
    more = page.next_offset
    heading = (
        f"Output {blob[:HANDLE_SHOWN]} · lines {page.first_line}-{page.last_line} of "
        f"{page.total_lines} · characters {page.offset}-{page.end} of {page.total_characters} · "
        + ("the end" if more is None else f"next offset: {more}")
    )
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="outputs",
            data={
                "handle": blob,
                "offset": page.offset,
                "next_offset": more,
                "characters": page.total_characters,
                "first_line": page.first_line,
                "last_line": page.last_line,
            },
            meta=ResultMeta(total=page.total_lines, truncated=more is not None),
        ),
        content=text_content(f"{heading}\n{page.text}"),
        handle=blob,
    )
