"""What may be sent of the place where the user types: the ``Scenes`` of suggestions (chapter 10).

Made by ``host.build``. Secret files, private notebooks and private cells end here: nothing of them
gets any further. Everything is taken as it is now in the page, and nothing is waited for that
takes longer than a glance.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass

from jupyter_ai_shoulders.assist.ghost.context import Cell, Outlines, Piece, context_pieces
from jupyter_ai_shoulders.assist.ghost.engine import Private
from jupyter_ai_shoulders.assist.ghost.outline import names_given, outline
from jupyter_ai_shoulders.assist.ghost.prompt import Scene
from jupyter_ai_shoulders.assist.ghost.window import Window, window
from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError
from jupyter_ai_shoulders.core.secret_files import is_secret
from jupyter_ai_shoulders.engine.instructions import head_and_tail, read_instructions
from jupyter_ai_shoulders.engine.surroundings import Standing
from jupyter_ai_shoulders.engine.system_prompt import instructions_text
from jupyter_ai_shoulders.guard.paths import Workspace
from jupyter_ai_shoulders.host.ghost_variables import GhostVariables, Known
from jupyter_ai_shoulders.notebook.base import Notebooks, NotebookSnapshot
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.completions import RequestCompletions
from jupyter_ai_shoulders.wire.ids import CellId

READ_SECONDS = 1.0
"""How long the page that has the notebook open may take to show it."""
INSTRUCTIONS_LIMIT = 4_000
"""Bytes of each of the user's files of instructions."""
OURS = "jupyter_ai_shoulders"
"""Key of our metadata in notebooks and cells."""

_SECRETIVE = "Nothing is suggested in files that usually hold secrets: their content is never sent."
_PRIVATE = "Nothing is suggested here: it is marked private, so it is never sent."
_UNREAD = "Nothing is suggested here: what is private in this notebook could not be read."
_LANGUAGES: Mapping[str, str] = {
    "ipython": "python",
    "ipythongfm": "markdown",
    "python3": "python",
    "py": "python",
    "gfm": "markdown",
}
"""Editors' names of languages that have another one too."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Around:
    """The other cells of a notebook; ``world`` names them as they are."""

    cells: tuple[Cell, ...] = ()
    language: str = ""
    world: Hashable = None
    hidden: frozenset[str] = frozenset()
    """Names that private cells define: they are in the kernel, but nothing is told of them."""


class GhostScenes:
    """See ``assist.ghost.engine.Scenes``."""

    def __init__(
        self,
        workspace: Workspace,
        notebooks: Notebooks,
        variables: GhostVariables,
        standing: Callable[[], Awaitable[Standing]],
        redact: Callable[[str], str],
    ) -> None:
        self._workspace = workspace
        self._notebooks = notebooks
        self._variables = variables
        self._standing = standing
        self._redact = redact
        self._outlines = Outlines()

    async def scene(self, asked: RequestCompletions) -> Scene:
        """See ``Scenes.scene``."""
        self._refuse_secret(asked.path)
        is_cell = asked.cell_id is not None or asked.path.endswith(".ipynb")
        language = _language(asked.language)
        text = window(self._redact(asked.prefix), self._redact(asked.suffix))
        around, known = _Around(language=language), Known()
        if is_cell:
            around, known = await asyncio.gather(
                self._around(asked), self._variables.known(asked.path)
            )
        return Scene(
            path=asked.path,
            language=language,
            is_cell=is_cell,
            text=text,
            pieces=self._pieces(around, text, language),
            variables=self._redact(known.text(text.prefix + text.suffix, around.hidden)),
            instructions=await self._instructions(asked.path, language),
            world=(around.world, known.name),
        )

    def _refuse_secret(self, path: str) -> None:
        """Raise ``Private`` for a secret file, by its name or by what it links to."""
        try:
            real = self._workspace.path(path)
        except ShouldersError as error:  # a link to somewhere else, for instance
            raise Private(f"Nothing is suggested here: {error.info.message}") from error
        if is_secret(path.replace("\\", "/")) or is_secret(real):
            raise Private(_SECRETIVE)

    def _pieces(self, around: _Around, text: Window, language: str) -> tuple[Piece, ...]:
        """Return what is told of the other cells and of what is far from the caret."""
        above, below = _rests(text)
        cells = _placed(around.cells, above, below)
        told = context_pieces(
            cells, text.prefix + text.suffix, around.language or language, self._outlines
        )
        return tuple(Piece(one.order, one.name, self._redact(one.text)) for one in told)

    # the notebook

    async def _around(self, asked: RequestCompletions) -> _Around:
        """Return the other cells. Raises ``Private``; also when it is not known what is."""
        try:
            async with asyncio.timeout(READ_SECONDS):
                snapshot = await self._notebooks.open(asked.path).read()
        except NotFound:
            return _Around()  # it is nowhere, so nothing of it was marked
        except (ShouldersError, TimeoutError) as error:
            _log.info("%s could not be read for suggestions: %s", asked.path, error)
            raise Private(_UNREAD) from error
        return _others(snapshot, asked.cell_id)

    # the user's files

    async def _instructions(self, path: str, language: str) -> tuple[str, ...]:
        """Return what the user tells every model, and the rules for this document."""
        try:
            standing = await self._standing()
        except ShouldersError as error:
            _log.info("The instructions could not be read for suggestions: %s", error)
            return ()
        return tuple(_told(standing, path, language))


def is_private(metadata: JsonObject) -> bool:
    """Return whether a cell or a notebook is marked: by the tag ``private``, or by our own key."""
    ours = metadata.get(OURS)
    tags = metadata.get("tags")
    tagged = isinstance(tags, list) and "private" in tags
    return tagged or (isinstance(ours, dict) and ours.get("private") is True)


def _others(snapshot: NotebookSnapshot, cell_id: CellId | None) -> _Around:
    """Return the cells that may be told of. Raises ``Private`` for the caret's own."""
    own = snapshot.position(cell_id) if cell_id is not None else None
    if is_private(snapshot.metadata) or (
        own is not None and is_private(snapshot.cells[own].metadata)
    ):
        raise Private(_PRIVATE)
    behind = len(snapshot.cells) if own is None else own
    open_cells = [
        (at, cell)
        for at, cell in enumerate(snapshot.cells)
        if at != own and cell.cell_type != "raw" and not is_private(cell.metadata)
    ]
    cells = tuple(
        Cell(f"cell {at + 1}", cell.source, cell.cell_type == "code", is_behind=at > behind)
        for at, cell in open_cells
    )
    world = tuple(cell.version for _, cell in open_cells)
    language = _kernel_language(snapshot.metadata)
    private = (cell.source for cell in snapshot.cells if is_private(cell.metadata))
    hidden = {name for source in private for name in names_given(outline(source, language))}
    return _Around(cells, language, world, frozenset(hidden))


def _rests(text: Window) -> tuple[list[Cell], list[Cell]]:
    """Return the parts of the caret's own text that are too far away to be sent as they are."""
    above = Cell("above in the same text", text.above, is_rest=True)
    below = Cell("below in the same text", text.below, is_behind=True, is_rest=True)
    return [above] if text.above else [], [below] if text.below else []


def _placed(others: tuple[Cell, ...], above: list[Cell], below: list[Cell]) -> list[Cell]:
    """Return all but what is sent anyway, in order."""
    before = [cell for cell in others if not cell.is_behind]
    after = [cell for cell in others if cell.is_behind]
    return [*before, *above, *below, *after]


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


def _told(standing: Standing, path: str, language: str) -> Iterator[str]:
    if standing.system is not None and standing.system.text.strip():
        yield head_and_tail(standing.system.text.strip(), INSTRUCTIONS_LIMIT)
    for item in standing.instructions:
        read = read_instructions(item.text, item.source)
        rules = [rule.text for rule in read.rules if rule.applies([path], language)]
        text = "\n\n".join(filter(None, [read.always, *rules]))
        if text:
            yield instructions_text(item.source, head_and_tail(text, INSTRUCTIONS_LIMIT))
