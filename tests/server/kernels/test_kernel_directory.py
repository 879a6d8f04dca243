import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.serverapp import ServerApp
from tornado.web import HTTPError
from traitlets.config import Config

from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.server.kernels.kernel_directory import ServerKernels
from tests.notebook.kernels.real_kernel import PATH, bench, user_of, user_runs


@pytest.fixture
def jp_server_config() -> Config:
    """A plain server: these tests need its kernels, not our extension."""
    return Config({"KernelRestarter": {"time_to_dead": 0.3}})


@pytest.fixture
def kernels(jp_serverapp: ServerApp) -> ServerKernels:
    return ServerKernels(jp_serverapp.session_manager, jp_serverapp.kernel_manager)


async def test_a_run_starts_the_session_the_page_would_have_made(
    kernels: ServerKernels, jp_serverapp: ServerApp, jp_root_dir: Path
):
    assert await kernels.find(PATH) is None
    async with bench(kernels, "import os; os.getcwd()") as at:
        at.notebook.metadata["kernelspec"] = {"name": "python3"}
        run = await at.run("a")
        assert at.progress[0].text == "Starting the kernel python3."
    session: Any = await jp_serverapp.session_manager.get_session(path=PATH)
    assert (session["type"], session["name"]) == ("notebook", PATH)
    assert session["kernel"]["id"] == run.kernel_id
    assert run.outputs[0]["data"] == {"text/plain": repr(str(jp_root_dir))}


async def test_the_users_session_is_used_and_its_variables_are_visible(
    kernels: ServerKernels, jp_serverapp: ServerApp
):
    session: Any = await jp_serverapp.session_manager.create_session(
        path=PATH, name=PATH, type="notebook", kernel_name="python3"
    )
    handle = await kernels.find(PATH)
    assert handle is not None
    assert (handle.kernel_id, handle.kernel_name, handle.language) == (
        session["kernel"]["id"],
        "python3",
        "python",
    )
    async with user_of(handle.manager) as user, bench(kernels, "by_hand") as at:
        assert await user_runs(user, "by_hand = 'mine'") == "ok"
        run = await at.run("a")
        assert run.outputs[0]["data"] == {"text/plain": "'mine'"}
        assert run.kernel_id == session["kernel"]["id"]


async def test_cancelling_interrupts_through_the_server(kernels: ServerKernels):
    async with bench(kernels, "print('begun', flush=True)\nimport time; time.sleep(60)") as at:
        task = asyncio.create_task(at.run("a"))
        await at.reported("stdout")
        task.cancel()
        async with asyncio.timeout(30):
            with pytest.raises(asyncio.CancelledError):
                await task
        outputs = at.notebook.cell("a").outputs
        assert outputs is not None
        assert outputs[-1]["ename"] == "KeyboardInterrupt"


async def test_a_kernel_that_cannot_be_reached_to_be_interrupted_is_named(
    kernels: ServerKernels, jp_serverapp: ServerApp, monkeypatch: pytest.MonkeyPatch
):
    async def away(kernel_id: str) -> None:
        raise HTTPError(503, f"the gateway of {kernel_id} is away")

    monkeypatch.setattr(jp_serverapp.kernel_manager, "interrupt_kernel", away)
    with pytest.raises(Conflict, match="could not be interrupted") as caught:
        await kernels.interrupt("some")
    assert caught.value.info.retryable


async def test_a_kernel_the_server_restarts_ends_the_run_and_serves_the_next(
    kernels: ServerKernels,
):
    slow = "print('begun', flush=True)\nimport time; time.sleep(60)"
    async with bench(kernels, "import os; os.getpid()", slow) as at:
        first = await at.run("a")
        assert isinstance(first.outputs[0]["data"], dict)
        pid = int(str(first.outputs[0]["data"]["text/plain"]))
        task = asyncio.create_task(at.run("b"))
        await at.reported("stdout")
        os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(30):
            assert (await task).status == "died"
        again = await at.run("a")
        assert (again.status, again.execution_count) == ("ok", 1)
        assert again.kernel_id == first.kernel_id


async def test_a_missing_kernelspec_and_a_kernel_that_is_gone_are_named(kernels: ServerKernels):
    with pytest.raises(NotFound, match="'cobol'") as missing:
        await kernels.start(PATH, "cobol")
    assert "python3" in (missing.value.info.hint or "")
    with pytest.raises(NotFound, match="no longer exists"):
        await kernels.interrupt("no-such-kernel")


async def test_running_kernels_are_listed_with_their_notebooks_and_state(
    kernels: ServerKernels, jp_serverapp: ServerApp
):
    assert [spec.name for spec in await kernels.installed()].count("python3") == 1
    assert list(await kernels.running()) == []
    handle = await kernels.start(PATH, "python3")
    manager: Any = jp_serverapp.kernel_manager
    alone = await manager.start_kernel()
    async with user_of(handle.manager) as user:
        await user_runs(user, "1")
    found = {kernel.kernel_id: kernel for kernel in await kernels.running()}
    assert {kernel_id: kernel.path for kernel_id, kernel in found.items()} == {
        handle.kernel_id: PATH,
        alone: None,
    }
    notebooks = found[handle.kernel_id]
    assert (notebooks.kernel_name, notebooks.language) == ("python3", "python")
    assert notebooks.state in {"idle", "busy", "starting"}
    assert notebooks.last_activity is not None


async def test_a_restart_through_the_server_ends_the_run_and_empties_the_kernel(
    kernels: ServerKernels,
):
    slow = "print('begun', flush=True)\nimport time; time.sleep(60)"
    async with bench(kernels, "kept = 1", slow, "'kept' in dir()") as at:
        first = await at.run("a")
        task = asyncio.create_task(at.run("b"))
        await at.reported("stdout")
        await kernels.restart(first.kernel_id)
        async with asyncio.timeout(30):
            assert (await task).status == "died"
        after = await at.run("c")
        assert after.outputs[0]["data"] == {"text/plain": "False"}
        assert after.kernel_id == first.kernel_id
    with pytest.raises(NotFound, match="no longer exists"):
        await kernels.restart("no-such-kernel")
