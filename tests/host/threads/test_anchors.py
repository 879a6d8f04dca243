"""Many threads follow a renamed folder without blocking others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_ai_shoulders.host.threads.anchors import AT_ONCE, ThreadAnchorService
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.wire.api.anchors import MoveAnchors, MovedAnchor
from jupyter_ai_shoulders.wire.sessions import Anchor
from tests.storage.store import MovableClock, Store, session

THREADS = 3 * AT_ONCE + 5


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path, MovableClock())
    for number in range(THREADS):
        opened.add(f"thread{number}", kind="task", anchor=anchor("old/a.md"))
    yield opened
    opened.database.close()


def anchor(document: str, quote: str = "") -> Anchor:
    return Anchor(
        document=document,
        cell_id=None,
        target="cell",
        range=None,
        quote=quote,
        prefix="",
        suffix="",
    )


def count(store: Store, document: str) -> int:
    chosen = SessionFilter(kind="task", document=document)
    return len(store.sessions.page(chosen, None, 2 * THREADS).sessions)


async def test_a_rename_of_many_threads_lets_others_have_their_turns(store: Store) -> None:
    anchors = ThreadAnchorService(store.sessions)
    last = session(f"thread{THREADS - 1}").id
    renaming = asyncio.create_task(anchors.renamed("old", "new"))
    seen: list[int] = []
    while not renaming.done():
        seen.append(count(store, "new/a.md"))
        if len(seen) == 2:  # a page reports a thread that waits for its move
            moved = MovedAnchor(session_id=last, anchor=anchor("old/a.md", "other"))
            await anchors.move(MoveAnchors(moved=(moved,)), lambda _: True)
        await asyncio.sleep(0)
    await renaming

    assert len(set(seen)) >= THREADS // AT_ONCE
    assert count(store, "new/a.md") == THREADS
    assert store.sessions.get(last).anchor == anchor("new/a.md", "other")


async def test_a_rename_of_what_is_being_renamed_waits_for_it(store: Store) -> None:
    anchors = ThreadAnchorService(store.sessions)

    await asyncio.gather(anchors.renamed("old", "new"), anchors.renamed("new", "newer"))

    assert count(store, "newer/a.md") == THREADS
