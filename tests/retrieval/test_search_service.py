"""The index follows the documents, survives damage and kills, and answers what is true now."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest, StateUnavailable
from jupyter_ai_shoulders.retrieval.indexer import REBUILT
from jupyter_ai_shoulders.retrieval.service import SearchService
from tests.retrieval.fake_documents import FakeOwnership
from tests.retrieval.search_stage import Stage, ask, paths, word
from tests.support.case_selection import examples


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    made = Stage(tmp_path)
    made.source.put("tables.py", "def load_table(path):\n    return path\n")
    made.source.put("notes/ideas.md", "# Ideas\n\nPlot the residuals.\n\n# Rest\nNothing.\n")
    return made


async def test_first_search_builds_the_index_and_finds_places(stage: Stage):
    async with stage.open() as service:
        found = await ask(service, "residuals plot")
        status = await service.status()
        filtered = [
            await ask(service, "load", kind="text"),
            await ask(service, "load", path="notes"),
            await ask(service, "load", path="tables.py", kind="code"),
        ]
    (match,) = found.matches
    assert match.model_dump(exclude={"score"}) == {
        "path": "notes/ideas.md",
        "kind": "text",
        "cell_id": None,
        "conversation": None,
        "line": 3,
        "heading": "Ideas",
        "heading_marks": (),
        "name_marks": (),
        "snippet": "Plot the residuals.",
        "is_output": False,
        "marks": ((0, 4), (9, 18)),
        "matched_by": "words",
    }
    assert (found.total, found.index.state, found.index.behind) == (1, "ready", 0)
    assert found.warning is None
    assert (status.state, status.files, status.chunks) == ("ready", 2, 3)
    assert status.bytes > 0
    assert [each.total for each in filtered] == [0, 0, 1]


async def test_matching_words_are_marked_in_headings_and_names_of_files(stage: Stage):
    stage.source.put("rain/RainFall.md", "# Rain in Spain\n\nMainly on the plain.\n")
    async with stage.open() as service:
        (match,) = (await ask(service, "rain spa", path="rain")).matches
    marked = [match.heading[start:end] for start, end in match.heading_marks]
    assert (marked, match.name_marks) == (["Rain", "Spain"], ((0, 4),))


async def test_words_by_part_prefix_and_name_with_rare_words_first(stage: Stage):
    stage.source.put("a.py", "x = pd.value_counts(y)\n")
    stage.source.put("b.py", "def trainTestSplit(): ...\n")
    stage.source.put("weather.txt", "Nothing to see.\n")
    async with stage.open() as service:
        found = {
            q: await paths(service, q)
            for q in ("valueCounts", "test", "trainT", "weath", "résiduals", "nowhere", "*", '"')
        }
    assert found == {
        "valueCounts": ["a.py"],
        "test": ["b.py"],
        "trainT": ["b.py"],
        "weath": ["weather.txt"],
        "résiduals": ["notes/ideas.md"],
        "nowhere": [],
        "*": [],
        '"': [],
    }


async def test_an_empty_query_is_refused(stage: Stage):
    async with stage.open() as service:
        with pytest.raises(InvalidRequest):
            await ask(service, "  ")


async def test_status_alone_builds_no_index(stage: Stage):
    async with stage.open() as service:
        status = await service.status("tables.py")
    assert (status.state, status.files) == ("empty", 0)
    assert status.file is not None
    assert status.file.reason == "There is no index yet."
    assert not stage.file.exists()


async def test_changes_on_disk_are_found_and_unchanged_text_is_not_indexed_again(stage: Stage):
    async with stage.open() as service:
        await ask(service, "load")
        stage.source.put("new.py", "def fresh(): ...\n")
        stage.source.put("tables.py", "def renamed(): ...\n")
        (stage.source.folder / "notes" / "ideas.md").unlink()
        stage.clock.later()
        assert await paths(service, "fresh") == ["new.py"]
        assert await paths(service, "load_table") == []
        assert await paths(service, "residuals") == []
        stage.source.reads.clear()
        os.utime(stage.source.folder / "new.py", ns=(1, 1))
        stage.clock.later()
        assert await paths(service, "fresh") == ["new.py"]
        assert stage.source.reads == ["new.py"]
    stage.source.reads.clear()
    async with stage.open() as service:
        assert await paths(service, "renamed") == ["tables.py"]
        assert stage.source.reads == []


async def test_a_comparison_without_changes_is_not_reported(stage: Stage):
    async with stage.open() as service:
        await ask(service, "load")
        reported = len(stage.reports)
        stage.clock.later()
        await ask(service, "load")
        await service.status()
        assert len(stage.reports) == reported > 0
        stage.source.put("new.py", "x = 1\n")
        stage.clock.later()
        await ask(service, "load")
        assert len(stage.reports) > reported


async def test_a_result_that_is_gone_is_left_out_even_before_the_comparison(stage: Stage):
    async with stage.open() as service:
        await ask(service, "load_table")
        stage.source.put("tables.py", "nothing = 1\n")
        assert await paths(service, "load_table") == []
        await service.set_paused(paused=True)
        stage.source.put("notes/ideas.md", "# Ideas\n\nChanged.\n\n# Rest\nNothing.\n")
        found = await ask(service, "residuals nothing")
        assert [match.line for match in found.matches if match.path == "notes/ideas.md"] == [6]
        assert found.index.state == "paused"
        assert found.warning == "Indexing is paused: 1 new or changed file is not searched."


async def test_unsaved_text_of_a_page_is_searched_instead_of_the_file(stage: Stage):
    async with stage.open() as service:
        await ask(service, "load_table")
        stage.source.in_pages["tables.py"] = "def typed_only(): ...\n"
        stage.clock.later()
        assert await paths(service, "typed_only") == ["tables.py"]
        assert await paths(service, "load_table") == []
        del stage.source.in_pages["tables.py"]
        stage.clock.later()
        assert await paths(service, "typed_only") == []
        assert await paths(service, "load_table") == ["tables.py"]


async def test_documents_are_read_by_the_previews_and_problems_are_listed(stage: Stage):
    stage.source.put("paper.pdf", "The estimator is unbiased.")
    stage.source.put("locked.txt", "x")
    stage.source.problems["locked.txt"] = "It cannot be read."
    async with stage.open() as service:
        assert await paths(service, "unbiased estimator") == ["paper.pdf"]
        status = await service.status("locked.txt")
        known = await service.status("paper.pdf")
    assert [(each.path, each.message) for each in status.problems] == [
        ("locked.txt", "It cannot be read.")
    ]
    assert status.file is not None
    assert known.file is not None
    assert (status.file.chunks, status.file.reason) == (0, "It cannot be read.")
    assert (known.file.chunks, known.file.reason) == (1, None)


async def test_pause_outlives_the_process_and_resume_catches_up(stage: Stage):
    async with stage.open() as service:
        await ask(service, "load")
        await service.set_paused(paused=True)
    stage.source.put("late.py", "def late(): ...\n")
    async with stage.open() as service:
        assert await paths(service, "late") == []
        await service.set_paused(paused=False)
        assert await paths(service, "late") == ["late.py"]


async def test_clear_deletes_the_index_and_the_next_search_builds_it(stage: Stage):
    async with stage.open() as service:
        await ask(service, "load")
        await service.clear()
        assert not stage.file.exists()
        assert (await service.status()).state == "empty"
        assert await paths(service, "load_table") == ["tables.py"]
        await service.rebuild()
        assert await paths(service, "load_table") == ["tables.py"]


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def scribble(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096 : len(content)] = os.urandom(len(content) - 4096)
    path.write_bytes(content)


def other_program(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE documents (id INTEGER PRIMARY KEY, path TEXT)")


def older_version(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 999")


def no_database(path: Path) -> None:
    path.write_bytes(b"not a database, but long enough to look at" * 100)


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize(
    "damage", [truncate, scribble, other_program, older_version, no_database, empty]
)
async def test_a_damaged_or_foreign_index_is_built_again(
    stage: Stage, damage: Callable[[Path], None]
):
    async with stage.open() as service:
        await ask(service, "load")
    damage(stage.file.path)
    async with stage.open() as service:
        await ask(service, "load")
        stage.clock.later()
        assert await paths(service, "load_table") == ["tables.py"]
        messages = [problem.message for problem in (await service.status()).problems]
    assert messages == ([] if damage is empty else [REBUILT])


async def test_an_index_that_is_damaged_or_deleted_in_use_is_built_again(stage: Stage):
    async with stage.open() as service:
        await ask(service, "load")
        stage.file.delete()
        stage.clock.later()
        assert await paths(service, "load_table") == ["tables.py"]
        scribble(stage.file.path)
        for _ in range(2):
            stage.clock.later()
            await ask(service, "load")
        assert await paths(service, "load_table") == ["tables.py"]


async def test_another_server_writes_and_this_one_reads(stage: Stage):
    async with stage.open() as first:
        await ask(first, "load")
        second_ownership = FakeOwnership()
        second_ownership.other = True
        second = SearchService(
            stage.file, stage.source, second_ownership, stage.clock, changed=lambda: None
        )
        assert await paths(second, "load_table") == ["tables.py"]
        stage.source.put("more.py", "def more(): ...\n")
        stage.clock.later()
        assert await paths(first, "more") == ["more.py"]
        assert await paths(second, "more") == ["more.py"]
        with pytest.raises(StateUnavailable, match="Another server writes the index"):
            await second.clear()
        with pytest.raises(StateUnavailable, match="Another server writes the index"):
            await second.set_paused(paused=True)
        problems = [problem.message for problem in (await second.status()).problems]
        assert problems == ["Another server writes the index."]
        second_ownership.trusted = False  # it came with the folder
        stage.clock.later()
        assert await paths(second, "more") == []
        second_ownership.other = False  # the first one has ended
        stage.clock.later()
        assert await paths(second, "more") == ["more.py"]
        await second.aclose()


async def test_a_full_disk_keeps_what_is_indexed(stage: Stage):
    async with stage.open() as service:
        await ask(service, "load")
    stage.file.pages = stage.file.size() // 4096
    for number in range(50):
        stage.source.put(f"big{number}.txt", f"{word(number)} " * 200)
    async with stage.open() as service:
        full = await ask(service, "load_table")
        assert [match.path for match in full.matches] == ["tables.py"]
        assert full.index.state == "failed"
        assert full.warning == "The index cannot be written: database or disk is full."
        stage.file.pages = None
        stage.clock.later()
        assert await paths(service, f"{word(7)} ") == ["big7.txt"]
        assert (await service.status()).state == "ready"


def test_an_index_survives_kills_while_it_is_written(stage: Stage):
    """A process is killed while it indexes; the next one continues where it was."""
    for number in range(300):
        stage.source.put(f"many/{number}.md", f"# Part\n\nunique{word(number)} " * 40)
    chance = random.Random(21)
    kills = examples(full=100, default=10)
    for number in range(kills):
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            try:
                asyncio.run(_index_once(stage))
            finally:
                os._exit(0)
        time.sleep(chance.uniform(0.0, 0.08))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        stage.source.put(f"many/{number}.md", f"# Part\n\nchanged{word(number)} " * 40)

    async def check() -> None:
        async with stage.open() as service:
            for number in (0, kills - 1, 299):
                state = "changed" if number < kills else "unique"
                assert await paths(service, f"{state}{word(number)} ") == [f"many/{number}.md"]
            status = await service.status()
            assert (status.files, status.problems) == (302, ())

    asyncio.run(check())


async def _index_once(stage: Stage) -> None:
    async with stage.open() as service:
        await ask(service, "anything")
