"""Instructions and skills are read once, cached, and never served outdated."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.engine.environment.snapshot import InstructionSet
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.host.context import instruction_cache
from jupyter_ai_shoulders.host.context.instruction_cache import InstructionCache, InstructionSources

KEY = "plain-words-that-are-a-key"


class WorkspaceFolder:
    """A workspace, its cached files, and a clock far ahead of them: they are settled."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.writes = 0
        self.secrets: tuple[str, ...] = ()
        self.environ = {"LANG": "de_DE.UTF-8"}
        self.workspace = Workspace(root)
        self.places = InstructionSources(self.workspace, root / ".shoulders", self.environ)
        self.kept = InstructionCache(self.places, lambda text: Redactor(self.secrets).redact(text))

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.writes += 1  # two writes within one tick of the file system's clock must differ
        os.utime(path, ns=(self.writes, self.writes))

    async def texts(self) -> list[str]:
        return [item.text for item in (await self.kept.value()).instructions]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[WorkspaceFolder]:
    made = WorkspaceFolder(tmp_path)
    yield made
    made.workspace.close()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[InstructionSet]:
    """Every read of the files, with all writes long ago."""
    readings: list[InstructionSet] = []
    really = instruction_cache.read_instruction_files

    def noted(*args: object) -> InstructionSet:
        readings.append(really(*args))  # pyright: ignore[reportArgumentType]  passed through
        return readings[-1]

    now = time.time_ns() + 3600 * 10**9
    monkeypatch.setattr(instruction_cache, "read_instruction_files", noted)
    monkeypatch.setattr(instruction_cache.time, "time_ns", lambda: now)
    monkeypatch.setattr(instruction_cache, "SLOW_SECONDS", float("inf"))
    return readings


async def test_files_that_stand_unchanged_are_read_once(
    folder: WorkspaceFolder, read: list[InstructionSet]
) -> None:
    folder.write("_instructions.md", "Be brief.")
    folder.write(".agents/skills/plots/SKILL.md", "Draw.")
    first, second = await folder.kept.value(), await folder.kept.value()
    assert first is second
    assert [skill.name for skill in first.skills] == ["plots", "shoulders-meta"]
    assert len(read) == 1


@pytest.mark.parametrize(
    "name",
    [
        "_instructions.md",
        "AGENTS.md",
        ".shoulders/system.md",
        ".shoulders/skills/skills.json",
        ".agents/skills/plots/SKILL.md",
        ".project/skills/new/SKILL.md",
    ],
)
async def test_a_file_that_appears_changes_or_goes_is_noticed(
    folder: WorkspaceFolder, read: list[InstructionSet], name: str
) -> None:
    folder.write(".agents/skills/plots/other.md", "a skill's folder without a skill")
    before = await folder.kept.value()
    folder.write(name, "[]")
    assert len(read) == 1
    await folder.kept.value()
    folder.write(name, "{}")  # same size as before
    await folder.kept.value()
    (folder.root / name).unlink()
    gone = await folder.kept.value()
    assert len(read) == 4
    assert gone == before


async def test_a_file_put_in_the_place_of_another_is_noticed(
    folder: WorkspaceFolder, read: list[InstructionSet]
) -> None:
    folder.write("_instructions.md", "one")
    folder.write("other", "two")
    assert await folder.texts() == ["one"]
    before = (folder.root / "_instructions.md").stat()
    os.utime(folder.root / "other", ns=(before.st_atime_ns, before.st_mtime_ns))
    (folder.root / "other").replace(folder.root / "_instructions.md")
    assert await folder.texts() == ["two"]
    assert len(read) == 2


async def test_a_key_that_becomes_known_is_taken_out_of_what_was_kept(
    folder: WorkspaceFolder, read: list[InstructionSet]
) -> None:
    folder.write("_instructions.md", f"Use {KEY}.")
    assert await folder.texts() == [f"Use {KEY}."]
    folder.secrets = (KEY,)
    assert await folder.texts() == ["Use [redacted]."]
    assert await folder.texts() == ["Use [redacted]."]
    assert len(read) == 2


async def test_another_locale_is_told(folder: WorkspaceFolder, read: list[InstructionSet]) -> None:
    assert (await folder.kept.value()).locale == "de_DE"
    folder.environ["LANG"] = "fr_FR"
    assert (await folder.kept.value()).locale == "fr_FR"
    assert len(read) == 2


async def test_files_behind_links_are_read_every_time(
    folder: WorkspaceFolder, read: list[InstructionSet]
) -> None:
    folder.write("shared.md", "one")
    (folder.root / "AGENTS.md").symlink_to("shared.md")
    assert await folder.texts() == ["one"]
    folder.write("shared.md", "two")
    assert await folder.texts() == ["two"]
    assert len(read) == 2


async def test_a_file_written_just_now_is_read_again(
    folder: WorkspaceFolder, read: list[InstructionSet], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write("_instructions.md", "one")
    written = (folder.root / "_instructions.md").stat().st_ctime_ns
    monkeypatch.setattr(
        instruction_cache.time, "time_ns", lambda: written + instruction_cache.SETTLED_NS - 1
    )
    await folder.kept.value()
    await folder.kept.value()
    assert len(read) == 2


async def test_a_slow_file_system_is_not_asked_on_the_event_loop(
    folder: WorkspaceFolder, read: list[InstructionSet], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instruction_cache, "SLOW_SECONDS", -1.0)  # any duration is too long
    first = await folder.kept.value()
    monkeypatch.setattr(instruction_cache, "SLOW_SECONDS", float("inf"))
    second = await folder.kept.value()
    assert (len(read), first) == (2, second)
    assert await folder.kept.value() is second  # it has recovered


async def test_long_texts_are_not_kept(folder: WorkspaceFolder, read: list[InstructionSet]) -> None:
    folder.write("_instructions.md", "x" * (instruction_cache.CACHE_SIZE + 1))
    await folder.kept.value()
    await folder.kept.value()
    assert len(read) == 2
