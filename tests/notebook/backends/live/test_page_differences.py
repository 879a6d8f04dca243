"""Pages send what changed of a notebook; what does not fit the server's copy is never used."""

from __future__ import annotations

import logging

import pytest

from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.notebook.backends.live.cell_lists import updated_cells
from jupyter_ai_shoulders.notebook.cells import make_cell
from jupyter_ai_shoulders.wire.frames import (
    DocumentAnnounce,
    DocumentChange,
    DocumentContent,
    DocumentRead,
)
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import CellOrder, NotebookCell
from jupyter_ai_shoulders.wire.versions import cell_version, list_version
from tests.notebook.backends.live.harness import ORIGINAL, A, LiveHarness
from tests.notebook.cell_changes import cell_changes
from tests.notebook.fake_page import FakePage


def _list(text: str) -> list[NotebookCell]:
    """Cells by letters; a capital letter has another source."""
    return [make_cell(CellId(each.lower()), "code", each) for each in text]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("abc", "abc"),
        ("abc", "aBc"),
        ("abc", ""),
        ("", "abc"),
        ("abc", "abXc"),
        ("abcd", "adbc"),
        ("abcd", "dcbA"),
        ("abc", "xyz"),
    ],
)
def test_changes_give_the_list_of_the_page(before: str, now: str) -> None:
    order, cells = cell_changes(_list(before), _list(now))
    assert updated_cells(_list(before), order, cells) == tuple(_list(now))
    assert updated_cells(_list("q"), None, _list(now)) == tuple(_list(now))


@pytest.mark.parametrize("other", ["ab", "abcd", "acb", "abC", ""])
def test_changes_to_another_list_are_found(other: str) -> None:
    order, cells = cell_changes(_list("abc"), _list("Aabc"[1:]))
    assert updated_cells(_list("abc"), order, cells) is not None
    assert updated_cells(_list(other), order, cells) is None


@pytest.mark.parametrize(("start", "removed"), [(-5, 2), (1, -1), (9, 9), (0, 9)])
def test_a_place_outside_of_the_list_is_found(start: int, removed: int) -> None:
    now = _list("abc")
    whole = list_version((cell.id, cell.version) for cell in now)
    order = CellOrder(start=start, removed=removed, ids=(CellId("x"),), list_version=whole)
    assert updated_cells(now, order, ()) is None


def test_list_version_is_of_ids_and_versions_in_order() -> None:
    cells = [(CellId("a"), Version("1")), (CellId("b"), Version("2"))]
    assert list_version(cells) == cell_version("a 1\nb 2")


def _answers(page: FakePage) -> list[DocumentContent]:
    """Let the page note its answers."""
    answers: list[DocumentContent] = []
    read = page.read

    def noted(frame: DocumentRead) -> object:
        answer = read(frame)
        if isinstance(answer, DocumentContent):
            answers.append(answer)
        return answer

    page.read = noted  # pyright: ignore[reportAttributeAccessIssue]: of this object
    return answers


async def test_a_second_read_is_sent_what_changed_since(bench: LiveHarness) -> None:
    page = await bench.page()
    answers = _answers(page)
    first = await bench.read()
    page.change_silently("bbbb", "typed and not announced")
    second = await bench.read(outputs=[A])
    third = await bench.read()
    assert [[cell.id for cell in answer.cells] for answer in answers] == [
        [*ORIGINAL],
        ["aaaa", "bbbb"],
        [],
    ]
    assert second.metadata == first.metadata
    assert [cell.outputs for cell in second.cells] == [(), None, None]
    assert [cell.outputs for cell in third.cells] == [None, None, None]
    texts = {cell.id: cell.source for cell in third.cells}
    assert texts == {**ORIGINAL, "bbbb": "typed and not announced"}


async def test_an_answer_that_came_too_late_is_not_built_upon(bench: LiveHarness) -> None:
    page = await bench.page()
    await bench.read()
    page.change_silently("bbbb", "typed")
    lost = DocumentRead.model_validate(
        {
            "operation_id": "operation_0",
            "claim_epoch": page.epoch,
            "path": page.path,
            "outputs": (),
            "since": page.revision,
        }
    )
    page.read(lost)
    answers = _answers(page)
    assert (await bench.sources())["bbbb"] == "typed"
    assert [answer.order for answer in answers] == [None]


async def test_a_difference_that_does_not_fit_is_read_again_whole(bench: LiveHarness) -> None:
    page = await bench.page()
    await bench.read()
    page.change_silently("bbbb", "typed")
    page.sent = tuple(page.cells)  # a page that does not notice this change
    page.change_silently("cccc", "typed too")
    answers = _answers(page)
    assert (await bench.sources())["bbbb"] == "typed"
    assert [answer.order is None for answer in answers] == [False, True]


async def test_a_page_that_never_sends_what_it_has_is_a_conflict(bench: LiveHarness) -> None:
    page = await bench.page()
    wrong = cell_changes(_list("abc"), _list("xyz"))[0]
    read = page.read
    page.read = lambda frame: read(frame).model_copy(update={"order": wrong})
    with pytest.raises(Conflict, match="no usable answer"):
        await bench.read()


async def test_a_change_that_does_not_fit_is_announced_again(
    bench: LiveHarness, caplog: pytest.LogCaptureFixture
) -> None:
    page = await bench.page()
    page.change_silently("aaaa", "lost on the way")
    page.announced = None
    order, cells = cell_changes(page.cells[1:], page.cells)
    assert order is not None
    with caplog.at_level(logging.WARNING):
        await page.say(
            DocumentChange.model_validate(
                {
                    "path": page.path,
                    "claim_epoch": page.epoch,
                    "cells": (),
                    "order": order.model_copy(update={"start": 1}),
                    "dirty": True,
                    "saved_at": None,
                    "kernel_id": None,
                }
            )
        )
    assert "does not fit" in caplog.text
    assert DocumentAnnounce(path=page.path) in page.frames
    await page.answered()
    assert cells
    assert bench.live.announced(page.client, page.path)[0].source == "lost on the way"
