"""The anchor's context for a thread's model, with real notebooks and files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.anchors.text import utf16_range
from jupyter_ai_shoulders.engine.environment.snapshot import WorkspaceFact
from jupyter_ai_shoulders.host.threads.anchor_context import (
    ABOUT,
    AROUND,
    CELL,
    OUTPUTS,
    QUOTE,
    TEXT_AFTER,
    TEXT_BEFORE,
    AnchorContext,
)
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.sessions import Anchor, OutputLocation
from jupyter_ai_shoulders.wire.versions import cell_version, text_version
from tests.engine.engine_harness import make_session
from tests.files.file_workspace import file_workspace
from tests.tools.direct_calls import OpenNotebooks

SOURCE = "a = 1\nframe.plot()\nb = 2\n"
QUOTED = "frame.plot()"


def anchored(document: str, text: str, quote: str, cell: str | None = None) -> Anchor:
    start = text.index(quote)
    return Anchor(
        document=document,
        cell_id=None if cell is None else CellId(cell),
        target="source",
        range=utf16_range(start, start + len(quote)),
        quote=quote,
        prefix=text[:start],
        suffix=text[start + len(quote) :],
        version=text_version(text) if cell is None else cell_version(text),
    )


def notebook(*sources: str, outputs: tuple[dict[str, Any], ...] = ()) -> str:
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "id": f"c{number}",
            "metadata": {},
            "source": source,
            "execution_count": None,
            "outputs": list(outputs) if number == 2 else [],
        }
        for number, source in enumerate(sources, 1)
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


STREAM = {"output_type": "stream", "name": "stdout", "text": "it printed this\n"}


@pytest.fixture
def places(workspace: Path) -> Iterator[AnchorContext]:
    with file_workspace(workspace.parent) as here:
        yield AnchorContext(OpenNotebooks(here.workspace), here.texts)


async def told(places: AnchorContext, anchor: Anchor | None) -> dict[str, WorkspaceFact]:
    of = make_session().model_copy(update={"kind": "task", "anchor": anchor})
    return {fact.name: fact for fact in await places.facts(of)}


async def test_a_conversation_without_a_place_is_told_nothing(places: AnchorContext) -> None:
    assert await told(places, None) == {}


async def test_text_of_a_file_comes_with_what_stands_around_it(
    places: AnchorContext, workspace: Path
) -> None:
    (workspace / "notes.md").write_text("x" * 6_000 + SOURCE + "y" * 2_000)
    text = (workspace / "notes.md").read_text()

    facts = await told(places, anchored("notes.md", text, QUOTED))

    assert facts[ABOUT] == WorkspaceFact(ABOUT, "line 2 of notes.md")
    assert facts[QUOTE] == WorkspaceFact(QUOTE, QUOTED, is_data=True)
    assert facts[TEXT_BEFORE].text == text[1_006 : text.index(QUOTED)]
    assert len(facts[TEXT_AFTER].text) == 1_000
    assert OUTPUTS not in facts


async def test_text_of_a_cell_comes_with_outputs_and_neighbours(
    places: AnchorContext, workspace: Path
) -> None:
    (workspace / "a.ipynb").write_text(notebook("first", SOURCE, "third", outputs=(STREAM,)))

    facts = await told(places, anchored("a.ipynb", SOURCE, QUOTED, "c2"))

    assert facts[ABOUT].text == "line 2 of cell 2 (id=c2, code) of a.ipynb"
    assert "it printed this" in facts[OUTPUTS].text
    assert facts[AROUND].text == "cell 1 (id=c1, code): first\ncell 3 (id=c3, code): third"
    assert all(facts[name].is_data for name in facts if name != ABOUT)


@pytest.mark.parametrize(
    ("target", "about"),
    [
        ("cell", "cell 2 (id=c2, code) of a.ipynb"),
        ("output", "the output of cell 2 (id=c2, code) of a.ipynb"),
    ],
)
async def test_a_cell_or_an_output_comes_whole(
    places: AnchorContext, workspace: Path, target: str, about: str
) -> None:
    (workspace / "a.ipynb").write_text(notebook("first", SOURCE, outputs=(STREAM,)))
    anchor = anchored("a.ipynb", SOURCE, QUOTED, "c2").model_copy(
        update={"target": target, "range": None, "quote": "it printed this"}
    )

    facts = await told(places, anchor)

    assert facts[ABOUT].text == about
    assert QUOTED in facts[CELL].text
    assert "it printed this" in facts[CELL].text


async def test_which_of_several_outputs_it_is_about_is_told(
    places: AnchorContext, workspace: Path
) -> None:
    (workspace / "a.ipynb").write_text(notebook("first", SOURCE, outputs=(STREAM, STREAM)))
    about = OutputLocation(index=1, nth=1, alike=2)
    anchor = anchored("a.ipynb", SOURCE, QUOTED, "c2").model_copy(
        update={"target": "output", "range": None, "quote": "it printed this", "output": about}
    )
    told_of = (await told(places, anchor))[ABOUT].text
    assert told_of == "output 2 of 2 of cell 2 (id=c2, code) of a.ipynb"

    (workspace / "a.ipynb").write_text(notebook("first", SOURCE, outputs=(STREAM,) * 3))
    told_of = (await told(places, anchor))[ABOUT].text
    assert told_of.startswith("output 2 of 3 of cell 2")
    assert "likeliest one only" in told_of

    (workspace / "a.ipynb").write_text(notebook("first", SOURCE))
    assert "which has none now" in (await told(places, anchor))[ABOUT].text


async def test_doubt_and_loss_are_said(places: AnchorContext, workspace: Path) -> None:
    (workspace / "a.py").write_text("x = 1\nx = 1\nx = 1\nx = 1\n")
    repeated = anchored("a.py", "x = 1\nx = 1\n", "x = 1")
    assert "likeliest place only" in (await told(places, repeated))[ABOUT].text

    gone = anchored("a.py", "y = compute()\n", "compute()")
    facts = await told(places, gone)
    assert "was not found again" in facts[ABOUT].text
    assert facts[QUOTE].text == "compute()"

    (workspace / "b.ipynb").write_text(notebook("only"))
    lost = anchored("b.ipynb", SOURCE, QUOTED, "c9")
    assert "not there any more" in (await told(places, lost))[ABOUT].text


async def test_what_cannot_or_must_not_be_read_is_only_named(
    places: AnchorContext, workspace: Path
) -> None:
    (workspace / ".env").write_text("KEY=value-that-is-secret")
    secret = await told(places, anchored(".env", "KEY=value-that-is-secret", "KEY"))
    assert list(secret) == [ABOUT]
    assert "it may hold keys" in secret[ABOUT].text

    (workspace / "notes.txt").symlink_to(".env")
    linked = await told(places, anchored("notes.txt", "KEY=value-that-is-secret", "value-that"))
    assert list(linked) == [ABOUT]

    facts = await told(places, anchored("missing.py", SOURCE, QUOTED))
    assert "cannot be read" in facts[ABOUT].text
    assert facts[QUOTE].text == QUOTED


@pytest.mark.parametrize(
    "sources",
    [("imports", "a = 1\n", "frame.plot()\nb = 2\n"), (f"imports\n{SOURCE}",)],
    ids=["split", "merged"],
)
async def test_a_text_that_is_in_another_cell_now_is_told_from_there(
    places: AnchorContext, workspace: Path, sources: tuple[str, ...]
) -> None:
    (workspace / "n.ipynb").write_text(notebook(*sources))

    facts = await told(places, anchored("n.ipynb", SOURCE, QUOTED, "c2"))

    assert f"of cell {len(sources)} " in facts[ABOUT].text
    assert "likeliest place" in facts[ABOUT].text
    assert facts[QUOTE].text == QUOTED


async def test_a_text_that_two_other_cells_have_is_told_from_neither(
    places: AnchorContext, workspace: Path
) -> None:
    (workspace / "n.ipynb").write_text(notebook(SOURCE, "gone", SOURCE))

    facts = await told(places, anchored("n.ipynb", SOURCE, QUOTED, "c2"))

    assert "was not found again" in facts[ABOUT].text
