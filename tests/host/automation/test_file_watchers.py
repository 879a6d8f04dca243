"""Watchers on real files, with real notifications of the system: what starts a run, and how often.

Times are short; each case ends when the expected reports are there, or when nothing came in a time
in which it would have.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.clock import RandomIds, SystemClock
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.core.operation_journal import ChangeOrigin, ChangeOutcome, LoggedChange
from jupyter_ai_shoulders.guard.filesystem import change_notifications
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.search.path_index import PathIndex
from jupyter_ai_shoulders.host.automation.watchers import service as service_module
from jupyter_ai_shoulders.host.automation.watchers.own_activity import OwnActivityLog
from jupyter_ai_shoulders.host.automation.watchers.records import (
    MOST_KEPT,
    PendingChange,
    WatchRecords,
)
from jupyter_ai_shoulders.host.automation.watchers.service import (
    FileWatchers,
    Watch,
    WatchState,
    WatchTimes,
)
from jupyter_ai_shoulders.host.automation.watchers.watched_files import (
    FileComparison,
    WatchedFiles,
)
from jupyter_ai_shoulders.host.automation.watchers.watching_tools import WatchingTools
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.testing.memory_file_changes import MemoryJournal
from jupyter_ai_shoulders.wire.events import ToolCall, ToolResult, ToolStart
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.versions import file_version

SETTLE = 0.1
TIMES = WatchTimes(poll=0.05, step=0.02, retry=0.1)
SILENCE = 0.4
"""In which a change would have been reported."""


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110 a state without an event
            await asyncio.sleep(0.01)


@dataclass
class Runs:
    """``ChangeListener``: notes what is reported, as lines of the changes' kinds and paths."""

    reports: list[PendingChange] = field(default_factory=list[PendingChange])
    running: bool = False
    failing: bool = False
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def settled(self, watch_id: str, change: PendingChange) -> None:
        del watch_id
        if self.failing:
            raise StateUnavailable("The disk is full.")
        if change.key not in {report.key for report in self.reports}:
            self.reports.append(change)
        self.came.set()

    def is_running(self, watch_id: str) -> bool:
        return self.running

    def lines(self) -> list[list[str]]:
        return [
            [
                f"{each.kind} {each.old_path} {each.path}"
                if each.old_path
                else f"{each.kind} {each.path}"
                for each in report.changes
            ]
            for report in self.reports
        ]

    async def expect(self, count: int) -> list[list[str]]:
        """Return the reports, once there are so many and no further one comes."""
        async with asyncio.timeout(5):
            while len(self.reports) < count:
                self.came.clear()
                await self.came.wait()
        self.came.clear()
        try:
            async with asyncio.timeout(SILENCE):
                await self.came.wait()
        except TimeoutError:
            pass
        return self.lines()


class HoldableClock(SystemClock):
    """A clock whose monotonic time stands still on request, so that no load ends a burst."""

    def __init__(self) -> None:
        self._lost = 0.0
        self._held: float | None = None

    def monotonic(self) -> float:
        return super().monotonic() - self._lost if self._held is None else self._held

    @contextmanager
    def held(self) -> Generator[None]:
        self._held = self.monotonic()
        yield
        self._lost = super().monotonic() - self._held
        self._held = None


@dataclass
class Setup:
    """A workspace, its watchers and what our conversations did."""

    root: Path
    clock: HoldableClock
    tools: WatchingTools
    records: WatchRecords
    journal: MemoryJournal
    runs: Runs = field(default_factory=Runs)
    watchers: FileWatchers | None = None

    async def start(
        self, *globs: str, remote: str | None = None, times: WatchTimes = TIMES
    ) -> None:
        self.watchers = FileWatchers(
            self.tools,
            self.records,
            self.runs,
            times=times,
            remote=lambda _: remote,
        )
        self.watchers.set([Watch("sch_1", globs or ("data/*.csv",), SETTLE)])
        await until(lambda: self.state.files is not None)
        await asyncio.sleep(SETTLE + 0.1)  # it listens, and the first look is over

    @property
    def state(self) -> WatchState:
        assert self.watchers is not None
        return self.watchers.states()["sch_1"]

    async def stop(self) -> None:
        if self.watchers is not None:
            await self.watchers.aclose()

    def write_by_tool(self, path: str, content: str) -> None:
        """Write as a tool of a conversation does: recorded in the journal."""
        change = LoggedChange("edit", path, ChangeOrigin(SessionId("ses_1")))
        operation = self.journal.begin(change)
        (self.root / path).write_text(content)
        version = file_version(content.encode())
        self.journal.end(operation, "done", ChangeOutcome(after_version=version))


@pytest.fixture
def watching(tmp_path: Path, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[Setup]:
    root = tmp_path / "work"
    (root / "data").mkdir(parents=True)
    (root / "data" / "a.csv").write_text("1")
    (root / "data" / "b.csv").write_text("2")
    clock = HoldableClock()
    journal = MemoryJournal(clock.now())
    workspace = Workspace(root)
    tools = WatchingTools(
        workspace, PathIndex(workspace), OwnActivityLog(journal, clock), clock, RandomIds()
    )
    made = Setup(root, clock, tools, WatchRecords(StateDirectory(tmp_path / "state")), journal)
    yield made
    jp_asyncio_loop.run_until_complete(made.stop())
    workspace.close()


def burst(data: Path) -> None:
    for number in range(300):
        (data / "a.csv").write_text(str(number))


def many_files(data: Path) -> None:
    for number in range(1_000):
        (data / f"n{number}.csv").write_text("x")


def atomic_save(data: Path) -> None:
    """As gedit, VS Code and most libraries do."""
    (data / ".goutputstream-AB12").write_text("new")
    (data / ".goutputstream-AB12").replace(data / "a.csv")


def vim_save(data: Path) -> None:
    """With a backup that is removed, and the test file 4913."""
    (data / "4913").write_text("")
    (data / "4913").unlink()
    (data / "a.csv").rename(data / "a.csv~")
    (data / "a.csv").write_text("new by vim")
    (data / "a.csv~").unlink()


def gedit_backup(data: Path) -> None:
    """The backup stays."""
    shutil.copy(data / "a.csv", data / "a.csv~")
    (data / "a.csv").write_text("new by gedit")


def jupyter_save(data: Path) -> None:
    (data / ".~a.csv").write_text("new by Jupyter")
    (data / ".~a.csv").replace(data / "a.csv")
    (data / ".ipynb_checkpoints").mkdir()
    (data / ".ipynb_checkpoints" / "a-checkpoint.csv").write_text("1")


def made_and_removed(data: Path) -> None:
    (data / "c.csv").write_text("x")
    (data / "c.csv").unlink()


def rename(data: Path) -> None:
    (data / "a.csv").rename(data / "z.csv")


def folder_with_files(data: Path) -> None:
    (data / "deep" / "er").mkdir(parents=True)
    (data / "deep" / "er" / "x.csv").write_text("x")


def remove_folder(data: Path) -> None:
    shutil.rmtree(data)


def ignored(data: Path) -> None:
    (data.parent / ".gitignore").write_text("ignored.csv\n")
    (data / "ignored.csv").write_text("x")
    for name in (".git", ".shoulders", "node_modules"):
        (data / name).mkdir()
        (data / name / "x.csv").write_text("x")


def not_text(data: Path) -> None:
    Path(os.fsdecode(os.fsencode(data) + b"/\xff.csv")).write_text("x")
    (data / "c.csv").write_text("x")


def touch(data: Path) -> None:
    (data / "a.csv").touch()


CASES: list[tuple[Callable[[Path], None], str, list[list[str]]]] = [
    (burst, "data/*.csv", [["modified data/a.csv"]]),
    (
        many_files,
        "data/n*.csv",
        [sorted(f"created data/n{n}.csv" for n in range(1_000))[:MOST_KEPT]],
    ),
    (atomic_save, "data/*", [["modified data/a.csv"]]),
    (vim_save, "data/*", [["modified data/a.csv"]]),
    (gedit_backup, "data/*", [["modified data/a.csv"]]),
    (jupyter_save, "**/*.csv", [["modified data/a.csv"]]),
    (made_and_removed, "data/*.csv", []),
    (rename, "data/*.csv", [["renamed data/a.csv data/z.csv"]]),
    (folder_with_files, "**/*.csv", [["created data/deep/er/x.csv"]]),
    (remove_folder, "data/*.csv", [["deleted data/a.csv", "deleted data/b.csv"]]),
    (ignored, "**/*.csv", []),
    (not_text, "data/*.csv", [["created data/c.csv"]]),
    (touch, "data/*.csv", [["modified data/a.csv"]]),
]


@pytest.mark.parametrize("polls", [False, True], ids=["notifications", "polling"])
@pytest.mark.parametrize(
    ("do", "glob", "expected"), CASES, ids=[case[0].__name__ for case in CASES]
)
async def test_change_starts_one_run_after_it_settled(
    watching: Setup,
    do: Callable[[Path], None],
    glob: str,
    expected: list[list[str]],
    polls: bool,
) -> None:
    await watching.start(glob, remote="nfs4" if polls else None)

    with watching.clock.held():
        await asyncio.to_thread(do, watching.root / "data")

    assert await watching.runs.expect(len(expected)) == expected
    assert watching.state.method == ("polling" if polls else "notifications")
    assert watching.state.problem is None


async def test_polled_files_that_still_change_at_the_look_are_reported_with_the_rest(
    watching: Setup,
) -> None:
    watch = Watch("sch_1", ("data/*.csv",), settle_s=0.0)
    watched = WatchedFiles(watch, watching.tools, watching.records, longest_wait=60.0)
    await watched.start(watching.clock.monotonic())
    await watched.has_moved()
    (watching.root / "data" / "a.csv").write_text("new")
    assert await watched.has_moved()
    (watching.root / "data" / "b.csv").write_text("still being written")

    looks = list[PendingChange | None]()
    for _ in range(2):
        assert watched.is_due(watching.clock.monotonic())
        looks.append(await watched.look(FileComparison(exact_times=False)))

    first, second = looks
    assert first is None
    assert second is not None
    assert [each.path for each in second.changes] == ["data/a.csv", "data/b.csv"]


async def test_links_out_of_the_workspace_are_not_followed(watching: Setup, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (watching.root / "link").symlink_to(outside)
    (watching.root / "data" / "l.csv").symlink_to(outside / "x.csv")
    await watching.start("**/*.csv")

    (outside / "x.csv").write_text("x")
    (watching.root / "data" / "a.csv").write_text("new")

    assert await watching.runs.expect(1) == [["modified data/a.csv"]]


async def test_endless_burst_is_reported_after_the_longest_wait(watching: Setup) -> None:
    await watching.start(times=replace(TIMES, longest_wait=1.0))
    loop = asyncio.get_running_loop()
    started = loop.time()

    async def write() -> None:
        while True:
            (watching.root / "data" / "a.csv").write_text(str(loop.time()))
            await asyncio.sleep(0.03)

    writing = asyncio.create_task(write())
    async with asyncio.timeout(5):
        await watching.runs.came.wait()
    writing.cancel()

    assert 0.8 < loop.time() - started < 3


async def test_changes_while_no_server_ran_are_found_once(watching: Setup) -> None:
    await watching.start()
    await watching.stop()
    (watching.root / "data" / "c.csv").write_text("x")

    await watching.start()
    first = await watching.runs.expect(1)
    await watching.stop()
    await watching.start()

    assert first == [["created data/c.csv"]]
    assert await watching.runs.expect(1) == first


async def test_change_that_could_not_be_reported_is_reported_later(watching: Setup) -> None:
    await watching.start()
    watching.runs.failing = True
    (watching.root / "data" / "a.csv").write_text("new")
    await until(lambda: watching.state.problem is not None)
    assert "The disk is full." in (watching.state.problem or "")
    await watching.stop()

    watching.runs.failing = False
    await watching.start()

    assert await watching.runs.expect(1) == [["modified data/a.csv"]]


def code_call(watching: Setup, event: str) -> None:
    """Publish the events of a call that runs code."""
    base = {"session_id": "ses_1", "turn_id": "turn_1", "at": "2026-01-01T00:00:00.000Z", "seq": 1}
    made: ToolCall | ToolStart | ToolResult
    match event:
        case "call":
            made = ToolCall.model_validate(
                base
                | {"call_id": "c", "tool": "run_cell", "arguments": {}, "raw": None}
                | {"invalid": None, "risk": "execute", "external": False}
                | {"title": "Run", "target": None}
            )
        case "start":
            made = ToolStart.model_validate(base | {"call_id": "c"})
        case _:
            made = ToolResult.model_validate(
                base
                | {"call_id": "c", "tool": "run_cell", "status": "ok", "content": []}
                | {"result": {"ok": True, "kind": "none", "data": None}, "duration_ms": 1}
            )
    watching.tools.activity.on_event(LoggedEvent(made, ""))


async def by_tool(watching: Setup) -> None:
    watching.write_by_tool("data/a.csv", "by a tool")


async def by_tool_then_person(watching: Setup) -> None:
    watching.write_by_tool("data/a.csv", "by a tool")
    (watching.root / "data" / "a.csv").write_text("by the person")


async def by_person_same_content(watching: Setup) -> None:
    watching.write_by_tool("data/a.csv", "by a tool")
    (watching.root / "data" / "a.csv").write_text("by a tool")


async def by_code(watching: Setup) -> None:
    code_call(watching, "call")
    code_call(watching, "start")
    (watching.root / "data" / "new.csv").write_text("by a cell")
    code_call(watching, "result")


async def by_person_in_the_lab_during_code(watching: Setup) -> None:
    code_call(watching, "call")
    code_call(watching, "start")
    (watching.root / "data" / "new.csv").write_text("by a cell")
    (watching.root / "data" / "a.csv").write_text("saved in the lab")
    watching.tools.activity.saved("data/a.csv")
    code_call(watching, "result")


async def asked_but_not_started(watching: Setup) -> None:
    code_call(watching, "call")
    (watching.root / "data" / "a.csv").write_text("by the person")


OWN: list[tuple[Callable[[Setup], Awaitable[None]], list[list[str]]]] = [
    (by_tool, []),
    (by_tool_then_person, [["modified data/a.csv"]]),
    (by_person_same_content, []),
    (by_code, []),
    (by_person_in_the_lab_during_code, [["modified data/a.csv"]]),
    (asked_but_not_started, [["modified data/a.csv"]]),
]


@pytest.mark.parametrize(("do", "expected"), OWN, ids=[case[0].__name__ for case in OWN])
async def test_changes_of_our_own_conversations_start_nothing(
    watching: Setup, do: Callable[[Setup], Awaitable[None]], expected: list[list[str]]
) -> None:
    await watching.start()

    await do(watching)

    assert await watching.runs.expect(len(expected)) == expected


async def test_change_of_the_person_during_a_run_starts_one_run_after_it(watching: Setup) -> None:
    await watching.start()
    watching.runs.running = True
    watching.write_by_tool("data/b.csv", "by the run")
    (watching.root / "data" / "a.csv").write_text("by the person")
    assert await watching.runs.expect(0) == []

    watching.runs.running = False
    assert watching.watchers is not None
    watching.watchers.run_ended("sch_1")

    assert await watching.runs.expect(1) == [["modified data/a.csv"]]


@pytest.fixture
def used_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A system whose limit of watched folders is reached."""

    async def changes(self: object) -> AsyncIterator[frozenset[str]]:
        raise change_notifications.WatchFailed("OS file watch limit reached", is_limit=True)
        yield frozenset()

    monkeypatch.setattr(service_module.FolderNotifications, "changes", changes)
    return iter(())


@pytest.mark.usefixtures("used_up")
async def test_watching_falls_back_to_polling_at_the_systems_limit(watching: Setup) -> None:
    await watching.start()

    (watching.root / "data" / "a.csv").write_text("new")

    assert await watching.runs.expect(1) == [["modified data/a.csv"]]
    assert watching.state.method == "polling"
    assert "limit of watched folders" in (watching.state.problem or "")


async def test_pattern_that_matches_too_much_says_so(
    watching: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_ai_shoulders.guard.search.matching_files.MOST_FILES", 1)
    assert watching.watchers is None
    watching.watchers = FileWatchers(watching.tools, watching.records, watching.runs, times=TIMES)
    watching.watchers.set([Watch("sch_1", ("**",), SETTLE)])
    await until(lambda: watching.state.problem is not None)

    assert "narrower pattern" in (watching.state.problem or "")


async def test_nothing_is_watched_without_watchers(watching: Setup) -> None:
    await watching.start()
    assert watching.watchers is not None

    watching.watchers.set([])
    await asyncio.sleep(0.1)

    names = {task.get_name() for task in asyncio.all_tasks()}
    assert "shoulders-file-watchers" not in names
