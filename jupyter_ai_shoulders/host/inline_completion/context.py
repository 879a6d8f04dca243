"""The ``CompletionContextSource`` of suggestions: which text around the caret may be sent.

Made by ``host.build``. Secret files, private notebooks and private cells are removed here.
Everything is read in its current state, and slow sources are skipped.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from jupyter_ai_shoulders.assist.inline_completion.caret_window import CaretWindow, cut_window
from jupyter_ai_shoulders.assist.inline_completion.context import (
    ContextCell,
    ContextPiece,
    OutlineCache,
    select_context,
)
from jupyter_ai_shoulders.assist.inline_completion.prompt import CompletionContext
from jupyter_ai_shoulders.assist.inline_completion.service import PrivateContent
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret
from jupyter_ai_shoulders.engine.environment.instructions import head_and_tail, read_instructions
from jupyter_ai_shoulders.engine.environment.snapshot import InstructionSet
from jupyter_ai_shoulders.engine.request.system_prompt import instructions_text
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.host.inline_completion.cells import (
    NearbyCells,
    VisibleCellsCache,
    is_private,
)
from jupyter_ai_shoulders.host.inline_completion.variables import (
    CompletionVariables,
    CompletionVariableSet,
)
from jupyter_ai_shoulders.notebook.base import Notebooks
from jupyter_ai_shoulders.wire.api.completions import RequestCompletions
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId

READ_SECONDS = 3.0
"""How long the page with the open notebook may take to send it."""
INSTRUCTIONS_LIMIT = 4_000
"""Maximum bytes of each instruction file."""
AT_ONCE = 15_000
"""Characters parsed between two turns of the event loop, in about 20 ms."""
_BETWEEN = "\n\x00\n"
"""Separates texts that are redacted together."""

_SECRETIVE = "Nothing is suggested in files that usually hold secrets: their content is never sent."
_PRIVATE = "Nothing is suggested here: it is marked private, so it is never sent."
_UNREAD = "Nothing is suggested here: what is private in this notebook could not be read."
_RAW = (
    "Nothing is suggested in the text of a notebook: what is private in it cannot be told from the"
    " rest. Open it as a notebook."
)
_LANGUAGES: Mapping[str, str] = {
    "ipython": "python",
    "ipythongfm": "markdown",
    "python3": "python",
    "py": "python",
    "gfm": "markdown",
}
"""Editors' names of languages that have another name too."""

_log = logging.getLogger(__name__)


_NOWHERE = NearbyCells((), (), None)


@dataclass(frozen=True, slots=True)
class _SurroundingText:
    """The other cells of a notebook."""

    near: NearbyCells = _NOWHERE
    language: str = ""
    hidden: frozenset[str] = frozenset()


class CompletionContextBuilder:
    """See ``assist.inline_completion.service.CompletionContextSource``."""

    def __init__(
        self,
        workspace: Workspace,
        notebooks: Notebooks,
        variables: CompletionVariables,
        standing: Callable[[], Awaitable[InstructionSet]],
        redact: Callable[[str], str],
    ) -> None:
        self._workspace = workspace
        self._notebooks = notebooks
        self._variables = variables
        self._standing = standing
        self._redact = redact
        self._outlines = OutlineCache()
        self._cells = VisibleCellsCache()

    async def context(self, command: RequestCompletions) -> CompletionContext:
        """See ``CompletionContextSource.context``."""
        self._refuse_secret(command.path)
        cell_id = command.cell_id
        if cell_id is None and command.path.lower().endswith(".ipynb"):
            raise PrivateContent(_RAW)
        language = _language(command.language)
        text = cut_window(self._redact(command.prefix), self._redact(command.suffix))
        around, known = _SurroundingText(), CompletionVariableSet()
        if cell_id is not None:
            around, known = await asyncio.gather(
                self._surrounding_text(command.path, cell_id),
                self._variables.snapshot(command.path),
            )
        return CompletionContext(
            path=command.path,
            language=language,
            is_cell=cell_id is not None,
            text=text,
            pieces=await self._pieces(around, text, language),
            variables=self._redact(known.text(text.prefix + text.suffix, around.hidden)),
            instructions=await self._instructions(command.path, language),
            fingerprint=(around.near.world, known.name),
        )

    def _refuse_secret(self, path: str) -> None:
        """Raise ``PrivateContent`` for a secret file, by its name or its link target."""
        try:
            real = self._workspace.path(path)
        except ShouldersError as error:  # for instance a link out of the workspace
            raise PrivateContent(f"Nothing is suggested here: {error.info.message}") from error
        if is_secret(path.replace("\\", "/")) or is_secret(real):
            raise PrivateContent(_SECRETIVE)

    async def _pieces(
        self, around: _SurroundingText, text: CaretWindow, language: str
    ) -> tuple[ContextPiece, ...]:
        """Return context pieces from other cells and from text far from the caret."""
        above, below = _rests(text)
        before, after = [*around.near.before, *above], [*below, *around.near.after]
        language = around.language or language
        await self._read_cells([*before, *after], language)
        around_caret = text.prefix + text.suffix
        told = select_context(before, after, around_caret, language, self._outlines)
        return tuple(
            replace(one, text=clean) for one, clean in zip(told, self._clean(told), strict=True)
        )

    async def _read_cells(self, cells: Sequence[ContextCell], language: str) -> None:
        """Parse new cells and yield to other tasks in between: many cells take a second."""
        parsed = 0
        for cell in cells:
            if self._outlines.has(cell, language):
                continue
            if parsed > AT_ONCE:
                await asyncio.sleep(0)
                parsed = 0
            self._outlines.of(cell, language)
            parsed += len(cell.source)

    def _clean(self, pieces: Sequence[ContextPiece]) -> list[str]:
        """Return the redacted texts; all at once, because each redaction has a fixed cost."""
        clean = self._redact(_BETWEEN.join(piece.text for piece in pieces)).split(_BETWEEN)
        if len(clean) == len(pieces):
            return clean
        return [self._redact(piece.text) for piece in pieces]

    # the notebook

    async def _surrounding_text(self, path: str, cell_id: CellId) -> _SurroundingText:
        """Return the other cells. Raises ``PrivateContent``, also when privacy cannot be
        determined.
        """
        try:
            async with asyncio.timeout(READ_SECONDS):
                snapshot = await self._notebooks.open(path).read()
        except (ShouldersError, TimeoutError) as error:
            _log.info("%s could not be read for suggestions: %s", path, error)
            raise PrivateContent(_UNREAD) from error
        language = _kernel_language(snapshot.metadata)
        cells = self._cells.of(snapshot, language)
        if is_private(snapshot.metadata) or cell_id in cells.private:
            raise PrivateContent(_PRIVATE)
        if cell_id not in cells.places:  # the page that has it cannot be reached now
            raise PrivateContent(_UNREAD)
        return _SurroundingText(cells.near(cell_id), language, cells.hidden)

    # the user's files

    async def _instructions(self, path: str, language: str) -> tuple[str, ...]:
        """Return the user's general instructions and the rules for this document."""
        try:
            standing = await self._standing()
        except ShouldersError as error:
            _log.info("The instructions could not be read for suggestions: %s", error)
            return ()
        return tuple(_instruction_texts(standing, path, language))


def _rests(text: CaretWindow) -> tuple[list[ContextCell], list[ContextCell]]:
    """Return the parts of the caret's own text that are too far away to be sent verbatim."""
    above = ContextCell("above in the same text", text.above, is_own_text=True)
    below = ContextCell("below in the same text", text.below, is_own_text=True)
    return [above] if text.above else [], [below] if text.below else []


def _language(given: str) -> str:
    name = given.strip().lower()
    return _LANGUAGES.get(name, name)


def _kernel_language(metadata: JsonObject) -> str:
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        found = metadata.get(key)
        value = found.get(name) if isinstance(found, dict) else None
        if isinstance(value, str) and value:
            return _language(value)
    return "python"


def _instruction_texts(standing: InstructionSet, path: str, language: str) -> Iterator[str]:
    if standing.system is not None and standing.system.text.strip():
        yield head_and_tail(standing.system.text.strip(), INSTRUCTIONS_LIMIT)
    for item in standing.instructions:
        read = read_instructions(item.text, item.source)
        rules = [rule.text for rule in read.rules if rule.applies([path], language)]
        text = "\n\n".join(filter(None, [read.always, *rules]))
        if text:
            yield instructions_text(item.source, head_and_tail(text, INSTRUCTIONS_LIMIT))
