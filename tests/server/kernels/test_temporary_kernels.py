"""Kernels without a session on a real Jupyter server: none is left behind."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.serverapp import ServerApp
from traitlets.config import Config

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.server.kernels.kernel_directory import ServerKernels
from tests.notebook.kernels.real_kernel import user_of, user_runs

PATH = "work/analysis.ipynb"


@pytest.fixture
def jp_server_config() -> Config:
    """A plain server: these tests need its kernels, not our extension."""
    return Config()


@pytest.fixture
def kernels(jp_serverapp: ServerApp, jp_root_dir: Path) -> ServerKernels:
    (jp_root_dir / "work").mkdir()
    return ServerKernels(jp_serverapp.session_manager, jp_serverapp.kernel_manager)


def running(app: ServerApp) -> list[str]:
    manager: Any = app.kernel_manager
    return manager.list_kernel_ids()


async def test_a_throwaway_kernel_is_in_the_notebooks_folder_and_ends(
    kernels: ServerKernels, jp_serverapp: ServerApp, jp_root_dir: Path
) -> None:
    async with kernels.throwaway(PATH, "python3") as handle:
        assert running(jp_serverapp) == [handle.kernel_id]
        assert await kernels.find(PATH) is None
        sessions: Any = jp_serverapp.session_manager
        assert await sessions.list_sessions() == []
        here = repr(str(jp_root_dir / "work"))
        async with user_of(handle.manager) as client:
            assert await user_runs(client, f"import os; assert os.getcwd() == {here}") == "ok"
    assert running(jp_serverapp) == []


async def test_a_throwaway_kernel_ends_with_an_error_or_a_cancel(
    kernels: ServerKernels, jp_serverapp: ServerApp
) -> None:
    with pytest.raises(ZeroDivisionError):
        async with kernels.throwaway(PATH, None):
            raise ZeroDivisionError
    assert running(jp_serverapp) == []

    started = asyncio.Event()

    async def hold() -> None:
        async with kernels.throwaway(PATH, None):
            started.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(hold())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert running(jp_serverapp) == []


async def test_a_missing_kernelspec_is_named(kernels: ServerKernels) -> None:
    with pytest.raises(NotFound, match="'cobol'"):
        async with kernels.throwaway(PATH, "cobol"):
            pass
