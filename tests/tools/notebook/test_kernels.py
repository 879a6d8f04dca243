from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from jupyter_ai_shoulders.notebook.base import KernelSpec, RunningKernel
from jupyter_ai_shoulders.notebook.kernels.control import KernelList, KernelUse, ListedKernel
from jupyter_ai_shoulders.testing.memory_notebooks import (
    MemoryNotebook,
    MemoryNotebooks,
    NotebookNameList,
    memory_cell,
)
from jupyter_ai_shoulders.tools.base import Effect, Progress, Result, Target
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess
from jupyter_ai_shoulders.tools.notebook.kernels import KernelArguments, kernel_tools
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from tests.tools.notebook_conversation import PATH, NotebookConversation, text_of
from tests.tools.result_checks import check_result

NOON = datetime(2026, 11, 21, 12, 0, 5, tzinfo=UTC)
IDLE = KernelUse("k1", "python3", "python", busy=False, runs=None, code=None, since=None)
USERS = replace(IDLE, busy=True, runs="user", code="while True: pass", since=NOON)
OURS = replace(IDLE, busy=True, runs="agent")
UNKNOWN = replace(IDLE, busy=None)


def running(
    kernel_id: str, name: str, language: str, path: str | None, state: str | None
) -> RunningKernel:
    return RunningKernel(kernel_id, name, language, path, state, NOON)


class Controls:
    def __init__(self, use: KernelUse, *, lets_go: bool = True) -> None:
        self.kernel = use
        self.done: list[str] = []
        self._lets_go = lets_go

    async def list(self) -> KernelList:
        return KernelList(
            (
                ListedKernel(running("k1", "python3", "python", PATH, "busy"), "user", NOON),
                ListedKernel(running("k2", "ir", "R", None, "idle"), None, None),
                ListedKernel(
                    replace(running("k3", "bash", "bash", "b.ipynb", None), last_activity=None),
                    None,
                    None,
                ),
            ),
            (KernelSpec("ir", "R", "R"), KernelSpec("python3", "Python 3", "python")),
        )

    async def use(self, path: str) -> KernelUse:
        assert path == PATH
        return self.kernel

    async def interrupt(self, path: str) -> bool:
        self.done.append(f"interrupt {path}")
        return self._lets_go

    async def restart(self, path: str) -> None:
        self.done.append(f"restart {path}")


def tools(controls: Controls) -> ToolRegistry:
    notebook = MemoryNotebook(PATH, [memory_cell("a", "x")])
    access = NotebookAccess(MemoryNotebooks(notebook), NotebookNameList(PATH))
    return ToolRegistry(kernel_tools(access, controls), lambda name: name)


async def call(controls: Controls, name: str, args: Any) -> tuple[Result, list[Progress]]:
    results: list[Result] = []
    progress: list[Progress] = []
    tool: Any = tools(controls).get(name)
    async with aclosing(tool.run(args, NotebookConversation().context())) as items:
        async for item in items:
            if isinstance(item, Result):
                results.append(item)
            else:
                progress.append(item)
    [result] = results
    check_result(result)
    return result, progress


async def subject(controls: Controls, name: str) -> Any:
    tool: Any = tools(controls).get(name)
    return await tool.subject(KernelArguments(path=PATH), NotebookConversation().context())


async def test_kernels_are_listed_with_what_they_do_and_what_is_installed():
    registry = tools(Controls(IDLE))
    listing: Any = registry.get("list_kernels")
    result, _ = await call(Controls(IDLE), "list_kernels", listing.arguments())
    assert text_of(result) == (
        "3 kernels running:\n"
        f"{PATH}: python3 (python), busy with the user's code since 12:00:05 UTC\n"
        "(of no notebook): ir (R), idle, last active 12:00:05 UTC\n"
        "b.ipynb: bash (bash), state unknown\n"
        "Installed: ir (R), python3 (python)"
    )
    assert (result.envelope.kind, result.envelope.meta.total) == ("listing", 3)
    data: Any = result.envelope.data
    assert data["kernels"][0] == {
        "path": PATH,
        "kernel_id": "k1",
        "kernel_name": "python3",
        "language": "python",
        "state": "busy",
        "runs": "user",
        "since": "2026-11-21T12:00:05+00:00",
        "last_activity": "2026-11-21T12:00:05+00:00",
    }
    assert data["installed"][0] == {"name": "ir", "display_name": "R", "language": "R"}


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (USERS, "the user's code, since 12:00:05 UTC:\n\nwhile True: pass"),
        (OURS, "the agent's code."),
        (IDLE, "It runs nothing."),
        (UNKNOWN, "Whether it runs anything is not known."),
    ],
    ids=["user", "agent", "idle", "unknown"],
)
async def test_the_card_says_whose_code_an_interrupt_stops(use: KernelUse, said: str):
    shown = await subject(Controls(use), "interrupt_kernel")
    assert (shown.title, shown.target_label) == ("Interrupt the kernel", "analysis.ipynb")
    assert (shown.target, shown.preview) == (Target(path=PATH), said)
    assert shown.effect == Effect(kernel_id="k1")


async def test_the_card_says_what_a_restart_loses():
    lost = "Lost: all variables of the kernel. Kept: the notebook's cells and outputs."
    assert (await subject(Controls(IDLE), "restart_kernel")).preview == lost
    assert (await subject(Controls(USERS), "restart_kernel")).preview == (
        f"{lost}\nLost, too, what runs now: the user's code, since 12:00:05 UTC:\n\n{USERS.code}"
    )


def lets_go(result: Result) -> None:
    assert result.ok
    assert "the user's code ended. Its variables are kept." in text_of(result)


def hangs(result: Result) -> None:
    error = result.envelope.error
    assert error is not None
    assert (error.code, error.retryable) == ("kernel_busy", True)
    assert "offer the user to restart it" in text_of(result)


@pytest.mark.parametrize(("obeys", "check"), [(True, lets_go), (False, hangs)])
async def test_an_interrupt_tells_whether_the_kernel_let_go(
    obeys: bool, check: Callable[[Result], None]
):
    controls = Controls(USERS, lets_go=obeys)
    result, _ = await call(controls, "interrupt_kernel", KernelArguments(path=PATH))
    assert controls.done == [f"interrupt {PATH}"]
    check(result)


async def test_an_idle_kernel_is_not_interrupted_and_an_unheard_one_is():
    controls = Controls(IDLE)
    result, _ = await call(controls, "interrupt_kernel", KernelArguments(path=PATH))
    assert (controls.done, result.ok) == ([], True)
    assert "runs nothing" in text_of(result)
    controls = Controls(UNKNOWN)
    await call(controls, "interrupt_kernel", KernelArguments(path=PATH))
    assert controls.done == [f"interrupt {PATH}"]


async def test_a_restart_says_that_the_outputs_are_from_before():
    controls = Controls(IDLE)
    result, progress = await call(controls, "restart_kernel", KernelArguments(path=PATH))
    assert controls.done == [f"restart {PATH}"]
    assert progress == [Progress("status", "Restarting the kernel.")]
    assert "all variables are gone" in text_of(result)


def test_only_listing_is_free_of_risk():
    registry = tools(Controls(IDLE))
    risks = {name: getattr(registry.get(name), "risk", None) for name in registry.names("full")}
    assert risks == {
        "list_kernels": "read",
        "interrupt_kernel": "execute",
        "restart_kernel": "execute",
    }
