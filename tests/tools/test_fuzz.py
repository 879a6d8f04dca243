"""Every tool with arguments nobody foresaw, through the engine: no call ends the turn with a bug,
and no file is ever half written.
"""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from jupyter_ai_shoulders.host.build import Host, HostPorts, HostSettings, build_host
from jupyter_ai_shoulders.providers.base import ModelRequest, Provider
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.testing.scripted_provider import (
    Call,
    ScriptedProvider,
    ScriptedTurn,
    turn,
)
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    AnswerQuestion,
    CreateSession,
    SendMessage,
)
from jupyter_ai_shoulders.wire.api.responses import ToolInfo
from jupyter_ai_shoulders.wire.ids import CallId, CellId, MessageId, ModelId, SessionId
from jupyter_ai_shoulders.wire.messages import MessageContext
from tests.host.test_build import NoPages
from tests.support.case_selection import examples
from tests.tools.call_strategies import FuzzWorkspace, NoKernelsHere, calls
from tests.tools.result_checks import check_logged

EXAMPLES = examples(8, 3)
"""Each makes a call of every tool."""
STEP = 3
"""Calls in one step; a fourth in a row that cannot be carried out would end the turn."""
ENDING = {"complete", "clarify"}
"""Nothing comes after them in a turn that nobody is there for."""
READING = [
    Call("read_file", {"path": path})
    for path in (
        "a.txt",
        "notes.md",
        "win.txt",
        "latin.txt",
        "src/deep/x.py",
        "n.ipynb",
        "data.bin",
    )
]
"""What the conversation has read, so that changes are not all refused."""
MODELS = {
    "default": "scripted",
    "providers": {"scripted": {"kind": "openai_chat", "url": "http://127.0.0.1:9/v1"}},
    "models": [
        {
            "id": "scripted",
            "provider": "scripted",
            "model": "scripted",
            "context_window": 4_000_000,
            "prices": {"input": 1, "output": 1},
        }
    ],
}
MEASURED = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    phases=[Phase.generate],
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


class FuzzHost:
    """A host without pages and kernels, and a model that makes the calls it is given."""

    def __init__(self, folder: Path, loop: asyncio.AbstractEventLoop) -> None:
        self.field = FuzzWorkspace(folder)
        self._steps: list[list[Call]] = []
        self._provider = ScriptedProvider(*[self._reply] * 100_000)
        self._loop = loop
        self._number = 0
        self._session: SessionId | None = None
        self.host: Host = build_host(
            HostSettings(
                workspace=self.field.root,
                state_dir=self.field.root / ".shoulders",
                home=folder / "home",
                models=MODELS,
                default_mode="bypass",
                nudges=False,
                step_limit=100,
            ),
            HostPorts(
                kernels=NoKernelsHere(),
                pages=NoPages(),
                environ={"PATH": os.environ.get("PATH", "")},
                adapter=lambda _target: cast("Provider", self._provider),
            ),
        )
        loop.run_until_complete(self.host.ready())

    def close(self) -> None:
        self._loop.run_until_complete(self.host.aclose())

    @property
    def tools(self) -> Sequence[ToolInfo]:
        return self.host.tools.infos({})

    def play(self, made: Sequence[Call]) -> list[ev.Event]:
        """Let the model make the calls in one turn; return what is in the log then."""
        return [logged.event for logged in self._loop.run_until_complete(self._play(made))]

    async def _play(self, made: Sequence[Call]) -> Sequence[LoggedEvent]:
        ending = [call for call in made if call.tool in ENDING]
        others = [call for call in made if call.tool not in ENDING]
        steps = [
            [*others[at : at + STEP], Call("search_content", {"query": f"step {at}"})]
            for at in range(0, len(others), STEP)
        ]
        self._steps = [READING, *steps, *([ending] if ending else [])]
        self._number += 1
        created = CreateSession(mode="bypass", model=ModelId("scripted"), toolset="full")
        session = self.host.session_service.create(created, owner=None)
        self._session = session.id
        message = SendMessage(
            id=MessageId(f"m{self._number}"),
            text="Go",
            context=MessageContext(
                active_document="notes.md" if self._number % 2 else "n.ipynb",
                active_cell_id=CellId("cell-1"),
            ),
        )
        async with asyncio.timeout(100):
            await self.host.engine.send(session.id, message)
            await self.host.engine.settled(session.id)
            while waiting := _waiting(self.host.log.read(session.id)):
                await self._answer(session.id, waiting)
                await self.host.engine.settled(session.id)
        return self.host.log.read(session.id)

    async def _answer(
        self, session: SessionId, asked: ev.ApprovalRequest | ev.ClarifyRequest
    ) -> None:
        """Allow what is asked: whatever runs must not do harm."""
        if isinstance(asked, ev.ApprovalRequest):
            answer = AnswerApproval(decision="allow", scope="once")
            await self.host.engine.responses.answer_approval(session, asked.call_id, answer)
        else:
            await self.host.engine.responses.answer_question(
                session, asked.call_id, AnswerQuestion(answer="Yes")
            )

    def _reply(self, request: ModelRequest) -> ScriptedTurn | str:
        """Return the next step of the conversation; sub-agents and their readers just answer."""
        account = request.account
        own = ("turn", self._session)
        if account is None or (account.purpose, account.session_id) != own or not self._steps:
            return "Done."
        return turn(*self._steps.pop(0))

    def written(self) -> set[str]:
        """Return the hash of every content that the operation log says a file was to have."""
        rows = self.host.files.journal.recent(limit=10_000)
        changes = [self.host.files.journal.change(row.id) for row in rows]
        return {str(blob) for change in changes for blob in (change.before, change.after)}


def _waiting(
    logged: Sequence[LoggedEvent],
) -> ev.ApprovalRequest | ev.ClarifyRequest | None:
    """Return what waits for the user."""
    asked: dict[CallId, ev.ApprovalRequest | ev.ClarifyRequest] = {}
    for event in (entry.event for entry in logged):
        match event:
            case ev.ApprovalRequest() | ev.ClarifyRequest():
                asked[event.call_id] = event
            case ev.ApprovalAnswer() | ev.ClarifyAnswer() | ev.ToolResult():
                asked.pop(event.call_id, None)
            case _:
                pass
    return next(iter(asked.values()), None)


@pytest.fixture
def world(
    tmp_path: Path, isolated_home: Path, jp_asyncio_loop: asyncio.AbstractEventLoop
) -> Generator[FuzzHost]:
    made = FuzzHost(tmp_path, jp_asyncio_loop)
    try:
        yield made
    finally:
        made.close()


def check(events: Sequence[ev.Event], made: Sequence[Call]) -> None:
    """The turn came to its end, and every call has one result that is no bug."""
    results = [event for event in events if isinstance(event, ev.ToolResult)]
    called = [event.call_id for event in events if isinstance(event, ev.ToolCall)]
    assert sorted(called) == sorted(result.call_id for result in results)
    for result in results:
        check_logged(result)
        error = result.result.error
        assert error is None or error.code != "internal", (result.tool, error)
    [end] = [event for event in events if isinstance(event, ev.TurnEnd)]
    assert end.exit in {"final_response", "ended_by_tool"}, (end.exit, end.error)
    assert len(called) >= len(made), (end.exit, [(r.tool, r.status) for r in results])


def test_no_arguments_end_the_turn_or_leave_half_a_file(world: FuzzHost):
    @MEASURED
    @given(calls(world.tools))
    def let_loose(made: list[Call]) -> None:
        world.field.reset()
        check(world.play(made), made)
        world.field.check(world.written())

    let_loose()


class FullDisk:
    """``os.write`` of a disk that is full: some writes into the workspace leave half and fail."""

    def __init__(self, root: Path, every: int) -> None:
        self._root = root
        self._every = every
        self._write = os.write
        self.writes = 0

    def __call__(self, descriptor: int, data: bytes) -> int:
        place = Path(f"/proc/self/fd/{descriptor}").readlink()
        if not place.is_relative_to(self._root) or ".shoulders" in place.parts:
            return self._write(descriptor, data)
        self.writes += 1
        if self.writes % self._every:
            return self._write(descriptor, data)
        self._write(descriptor, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")


ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="tells files by their descriptors")


WRITING = [
    Call("write_file", {"path": "a.txt", "content": "new text\n"}),
    Call("edit_file", {"path": "notes.md", "old_string": "Some", "new_string": "Other"}),
    Call("create_file", {"path": "new/file.txt", "content": "new text\n"}),
    Call("duplicate_file", {"path": "win.txt", "new_path": "copy.txt"}),
    Call("edit_cell", {"path": "n.ipynb", "cell_id": "cell-1", "source": "a = 2"}),
    Call("add_cell", {"path": "n.ipynb", "source": "c = 3"}),
    Call("create_notebook", {"path": "made.ipynb"}),
]


@ON_LINUX
def test_no_file_is_half_written_on_a_full_disk(world: FuzzHost, monkeypatch: pytest.MonkeyPatch):
    disk = FullDisk(world.field.root, every=2)

    @settings(MEASURED, max_examples=4)
    @given(calls(world.tools))
    def let_loose(made: list[Call]) -> None:
        world.field.reset()
        writes = disk.writes
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", disk)
            events = world.play([*WRITING, *made])
        check(events, [*WRITING, *made])
        world.field.check(world.written())
        assert disk.writes - writes >= len(WRITING)
        assert len(full_disk_errors(events)) >= len(WRITING) // 2

    let_loose()


def full_disk_errors(events: Sequence[ev.Event]) -> list[str]:
    """Return the tools whose calls failed because the disk was full."""
    results = [event for event in events if isinstance(event, ev.ToolResult)]
    errors = [(result.tool, result.result.error) for result in results]
    return [tool for tool, error in errors if error is not None and error.code == "disk_full"]


@ON_LINUX
def test_every_write_to_a_full_disk_is_an_error_and_leaves_what_was_there(
    world: FuzzHost, monkeypatch: pytest.MonkeyPatch
):
    world.field.reset()
    before = world.field.files()
    disk = FullDisk(world.field.root, every=1)
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", disk)
        events = world.play(WRITING)
    assert sorted(full_disk_errors(events)) == sorted(call.tool for call in WRITING)
    assert disk.writes == len(WRITING)
    assert world.field.files() == before
