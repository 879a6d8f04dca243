"""``kill -9`` at every point of a change: the next start knows its outcome, and can undo it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.crash_points import ENABLED
from tests.files.crash_program import LATER, SCENARIOS, SESSION, world

REPOSITORY = Path(__file__).parents[2]
FEWEST = 6
"""Crash points of the shortest change."""


def killed_everywhere(folder: Path, scenario: str) -> list[Path]:
    """Kill the scenario at each of its points; return the folders it left."""
    subprocess.run(
        [sys.executable, "-m", "tests.files.crash_program", str(folder), scenario],
        check=True,
        cwd=REPOSITORY,
        env={**os.environ, ENABLED: "armed"},
    )
    return sorted(folder.iterdir(), key=lambda path: int(path.name))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_kill_leaves_old_or_new_bytes_and_a_way_back(tmp_path: Path, scenario: str) -> None:
    places = killed_everywhere(tmp_path, scenario)
    with world(tmp_path / "fresh") as fresh:
        before = fresh.tree()
        await SCENARIOS[scenario](fresh)
        after = fresh.tree()
        await fresh.store.aclose()

    assert len(places) > FEWEST
    for place in places:
        with world(place) as found:
            left = found.tree()
            for name, content in left.items():
                assert content in {before.get(name), after.get(name)} | middle(name), (place, name)
            await found.settle()
            journal = found.store.operations
            assert [row.id for row in journal.unfinished()] == []
            await found.undo.undo_those(SESSION, list, LATER)
            assert found.tree() == before, [place, journal.recent()]
            await found.store.aclose()


def middle(name: str) -> set[bytes | None]:
    """Return a file's content between a turn and its undo, which are killed together."""
    between: dict[str, set[bytes | None]] = {
        "a.txt": {b"one\r\n2\r\n2\nthree\n", b"one\r\n2\n2\nthree\n"},
        "bin/run.sh": {b"#!/bin/sh\n"},
    }
    return between.get(name, set())
