import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
from jupyter_ai_shoulders.notebook.backends.live.notebook_claims import NotebookClaim
from jupyter_ai_shoulders.notebook.kernels.control import ControlTimes, KernelControl, KernelUse
from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels
from jupyter_ai_shoulders.wire.frames import KernelRestart, ServerFrame
from jupyter_ai_shoulders.wire.ids import ClientId
from tests.notebook.kernels.real_kernel import PAGE, PATH, KernelHarness, bench, user_of, user_runs

ENDLESS = "print('begun', flush=True)\nimport time\nwhile True: time.sleep(0.05)"
DEAF = """
import pathlib, signal, time
old = signal.signal(signal.SIGINT, signal.SIG_IGN)
print("deaf", flush=True)
while not pathlib.Path({flag!r}).exists(): time.sleep(0.05)
signal.signal(signal.SIGINT, old)
"""
TIMES = ControlTimes(page=0.5)


class CountingKernels(LocalKernels):
    restarts = 0

    async def restart(self, kernel_id: str) -> None:
        self.restarts += 1
        await super().restart(kernel_id)


class Page:
    """A page that has the notebook open, and acts on a request to restart."""

    def __init__(self, act: Callable[[KernelRestart], None]) -> None:
        self.asked: list[KernelRestart] = []
        self._act = act

    def shown_in(self, path: str) -> NotebookClaim | None:
        return NotebookClaim(
            client=PAGE,
            path=WorkspacePath(path),
            page_path=f"drive:{path}",
            epoch=1,
            cells=(),
            dirty=False,
            saved_at=None,
            focus=1,
        )

    def send(self, client_id: ClientId, frame: ServerFrame) -> None:
        assert client_id == PAGE
        assert isinstance(frame, KernelRestart)
        self.asked.append(frame)
        self._act(frame)


class NoPage(Page):
    def __init__(self) -> None:
        super().__init__(lambda _: None)

    def shown_in(self, path: str) -> NotebookClaim | None:
        return None


@asynccontextmanager
async def controlled(
    root: Path, *sources: str, page: Page | None = None, times: ControlTimes = TIMES
) -> AsyncGenerator[tuple[CountingKernels, KernelHarness, KernelControl]]:
    kernels = CountingKernels(root)
    page = page or NoPage()
    try:
        async with bench(kernels, *sources) as at:
            control = KernelControl(
                kernels=kernels,
                queues=at.queues,
                shown_in=page.shown_in,
                pages=page,
                clock=SystemClock(),
                times=times,
            )
            yield kernels, at, control
    finally:
        await kernels.aclose()


async def heard(control: KernelControl) -> KernelUse:
    """Return the kernel's use, once our connection has seen the user's cell begin."""
    for _ in range(2_000):
        use = await control.use(PATH)
        if use.code is not None:
            return use
        await asyncio.sleep(0.01)
    raise AssertionError("the user's cell was never heard of")


async def test_the_users_cell_is_named_and_interrupted_when_asked_for(tmp_path: Path):
    async with controlled(tmp_path, "kept = 1", "kept") as (kernels, at, control):
        await at.run("a")
        idle = await control.use(PATH)
        assert (idle.busy, idle.runs, idle.code, idle.language) == (False, None, None, "python")
        handle = await kernels.find(PATH)
        assert handle is not None
        async with user_of(handle.manager) as user:
            running = asyncio.create_task(user_runs(user, ENDLESS))
            use = await heard(control)
            assert (use.busy, use.runs, use.code) == (True, "user", ENDLESS)
            assert use.since is not None
            [listed] = (await control.list()).running
            assert (listed.runs, listed.kernel.path) == ("user", PATH)
            assert await control.interrupt(PATH)
            assert await running == "error"
        assert (await at.run("b")).outputs[0]["data"] == {"text/plain": "1"}
        assert (await control.use(PATH)).busy is False


async def test_an_interrupt_ends_the_agents_own_run(tmp_path: Path):
    async with controlled(tmp_path, ENDLESS) as (_, at, control):
        run = asyncio.create_task(at.run("a"))
        await at.reported("stdout")
        assert (await control.use(PATH)).runs == "agent"
        assert await control.interrupt(PATH)
        ended = await run
        assert (ended.status, ended.failure) == ("error", "KeyboardInterrupt: ")
        assert ended.outputs[0]["text"] == "begun\n"


async def test_a_kernel_that_ignores_the_interrupt_is_told_and_recovers_later(tmp_path: Path):
    flag = tmp_path / "flag"
    times = ControlTimes(interrupt=0.5)
    source = DEAF.format(flag=str(flag))
    async with controlled(tmp_path, source, "'back'", times=times) as (_, at, control):
        run = asyncio.create_task(at.run("a"))
        await at.reported("stdout")
        assert not await control.interrupt(PATH)
        assert (await control.use(PATH)).runs == "agent"
        flag.touch()
        assert (await run).status == "ok"
        assert (await at.run("b")).outputs[0]["data"] == {"text/plain": "'back'"}


async def test_a_restart_ends_what_hangs_and_the_next_run_finds_an_empty_kernel(tmp_path: Path):
    source = DEAF.format(flag=str(tmp_path / "never"))
    async with controlled(tmp_path, "kept = 1", source, "'kept' in dir()") as (
        kernels,
        at,
        control,
    ):
        before = await at.run("a")
        run = asyncio.create_task(at.run("b"))
        await at.reported("stdout")
        await control.restart(PATH)
        hung = await run
        assert (hung.status, hung.outputs[0]["text"]) == ("died", "deaf\n")
        after = await at.run("c")
        assert after.outputs[0]["data"] == {"text/plain": "False"}
        assert after.kernel_id == before.kernel_id
        assert kernels.restarts == 1


async def test_a_page_restarts_the_kernel_itself_so_that_it_shows_it(tmp_path: Path):
    started: list[asyncio.Task[None]] = []
    kernels_of_page: list[CountingKernels] = []

    def act(frame: KernelRestart) -> None:
        restart = LocalKernels.restart(kernels_of_page[0], frame.kernel_id)
        started.append(asyncio.create_task(restart))

    page = Page(act)
    async with controlled(tmp_path, "kept = 1", "'kept' in dir()", page=page) as made:
        kernels, at, control = made
        kernels_of_page.append(kernels)
        await at.run("a")
        await control.restart(PATH)
        assert kernels.restarts == 0
        assert [frame.path for frame in page.asked] == [f"drive:{PATH}"]
        assert (await at.run("b")).outputs[0]["data"] == {"text/plain": "False"}
        await started[0]


async def test_a_page_that_sleeps_leaves_the_restart_to_the_server(tmp_path: Path):
    page = Page(lambda _: None)
    async with controlled(tmp_path, "kept = 1", "'kept' in dir()", page=page) as made:
        kernels, at, control = made
        await at.run("a")
        await control.restart(PATH)
        assert (len(page.asked), kernels.restarts) == (1, 1)
        assert (await at.run("b")).outputs[0]["data"] == {"text/plain": "False"}


async def test_a_notebook_without_a_kernel_has_nothing_to_control(tmp_path: Path):
    async with controlled(tmp_path) as (_, _, control):
        for act in (control.use, control.interrupt, control.restart):
            with pytest.raises(NotFound, match="no running kernel") as missing:
                await act(PATH)
            assert missing.value.info.code == "no_kernel"
        found = await control.list()
        assert found.running == ()
        assert "python3" in [spec.name for spec in found.installed]
