"""Code that asks for input in a real kernel: asked in the page; the first answer counts."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.manager import AsyncKernelManager

from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.notebook.base import (
    CellRun,
    InputRecipient,
    RunInput,
    RunInputEnd,
    RunStarted,
)
from jupyter_ai_shoulders.notebook.execution import output_autosave
from jupyter_ai_shoulders.notebook.execution.stdin import NOBODY
from jupyter_ai_shoulders.wire.ids import CallId, ClientId, SessionId
from jupyter_ai_shoulders.wire.notebooks import CellOutputs
from tests.notebook.kernels.real_kernel import (
    PATH,
    KernelHarness,
    OneKernel,
    bench,
    kernel_process,
    user_of,
)

SESSION, CALL = SessionId("s"), CallId("c")
SOMEBODY = InputRecipient(SESSION, CALL, interactive=True)
NOBODY_ASKS = InputRecipient(SESSION, CALL, interactive=False)
ASK = "print('Hello', input('Name? '))"


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AsyncKernelManager]:
    with kernel_process(tmp_path_factory.mktemp("kernel")) as process:
        yield process


@pytest.fixture
def kernels(manager: AsyncKernelManager) -> OneKernel:
    return OneKernel(manager)


async def asked(at: KernelHarness) -> RunInput:
    """Wait until the run asks."""
    async with asyncio.timeout(20):
        while True:
            found = [item for item in at.items if isinstance(item, RunInput)]
            if found:
                return found[-1]
            at.stirred.clear()
            await at.stirred.wait()


def said(at: KernelHarness) -> list[RunInput | RunInputEnd]:
    return [item for item in at.items if isinstance(item, RunInput | RunInputEnd)]


async def test_answer_from_the_chat_closes_the_field_in_the_page(kernels: OneKernel):
    async with bench(kernels, f"print('first')\n{ASK}", page=True) as at:
        at.asker = SOMEBODY
        running = asyncio.create_task(at.run("a"))
        assert await asked(at) == RunInput("Name? ", password=False)
        assert at.pages.question is not None
        assert at.runner.inputs.answer(SESSION, CALL, "Ada")
        assert not at.runner.inputs.answer(SESSION, CALL, "again")
        run = await running
        assert "".join(str(output["text"]) for output in run.outputs) == "first\nHello Ada\n"
        assert at.pages.question is None
        assert said(at) == [RunInput("Name? ", password=False), RunInputEnd(answered=True)]


async def test_answer_from_the_page_leaves_nothing_for_the_chat(kernels: OneKernel):
    async with bench(kernels, ASK, page=True) as at:
        at.asker = NOBODY_ASKS  # the page alone can answer
        running = asyncio.create_task(at.run("a"))
        await asked(at)
        assert at.pages.question is not None
        assert at.pages.question.answer("Ada")
        assert not at.runner.inputs.answer(SESSION, CALL, "late")
        assert (await running).outputs[0]["text"] == "Hello Ada\n"


async def test_page_that_comes_in_the_middle_is_asked_too(kernels: OneKernel):
    async with bench(kernels, ASK) as at:
        at.asker = SOMEBODY
        running = asyncio.create_task(at.run("a"))
        await asked(at)
        at.pages.owners[PATH] = ClientId("reloaded")
        async with asyncio.timeout(20):
            while len(at.pages.frames) < 4:  # noqa: ASYNC110 the run looks for pages now and then
                await asyncio.sleep(0.05)
        assert at.pages.question is not None
        assert at.pages.question.answer("Ada")
        assert (await running).status == "ok"


async def test_two_questions_are_asked_one_after_the_other(kernels: OneKernel):
    async with bench(kernels, "print(input('One? ') + input('Two? '))", page=True) as at:
        at.asker = SOMEBODY
        running = asyncio.create_task(at.run("a"))
        await asked(at)
        assert at.runner.inputs.answer(SESSION, CALL, "1")
        async with asyncio.timeout(20):
            while len(said(at)) < 3:
                at.stirred.clear()
                await at.stirred.wait()
        assert at.pages.question is not None
        assert (at.pages.question.number, at.pages.question.prompt) == (2, "Two? ")
        assert at.runner.inputs.answer(SESSION, CALL, "2")
        assert (await running).outputs[0]["text"] == "12\n"


async def test_question_after_the_last_page_left_a_session_of_nobody_is_interrupted(
    kernels: OneKernel, tmp_path: Path
):
    gate = tmp_path / "go"
    waits = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.02)"
    source = f"print('begun', flush=True)\n{waits}\n{ASK}"
    async with bench(kernels, source, page=True) as at:
        at.asker = NOBODY_ASKS
        running = asyncio.create_task(at.run("a"))
        await at.reported("stdout")
        del at.pages.owners[PATH]
        gate.touch()
        run = await running
        assert (run.status, run.failure) == ("error", NOBODY)
        assert kernels.interrupts == 1


async def test_cancelling_a_run_that_asks_interrupts_it_and_ends_the_question(
    kernels: OneKernel,
):
    async with bench(kernels, ASK) as at:
        at.asker = SOMEBODY
        running = asyncio.create_task(at.run("a"))
        await asked(at)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert kernels.interrupts == 1
        assert not at.runner.inputs.answer(SESSION, CALL, "late")
        assert (await at.run_source("'alive'")).status == "ok"


async def test_run_can_be_looked_at_while_it_goes_on(kernels: OneKernel):
    async with bench(kernels, f"print('early', flush=True)\n{ASK}") as at:
        at.asker = SOMEBODY
        running = asyncio.create_task(at.run("a"))
        await asked(at)
        await at.reported("stdout")
        begun = at.items[0]
        assert isinstance(begun, RunStarted)
        now = begun.look()
        assert (now.status, now.warning) == ("running", None)
        assert now.outputs[0]["text"] == "early\n"
        assert at.runner.inputs.answer(SESSION, CALL, "Ada")
        assert isinstance(await running, CellRun)


async def test_outputs_so_far_are_stored_while_no_page_shows_them(
    kernels: OneKernel, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(output_autosave, "STORE_SECONDS", 0.0)
    async with bench(kernels, f"print('early', flush=True)\n{ASK}") as at:
        at.asker = SOMEBODY
        running = asyncio.create_task(at.run("a"))
        async with asyncio.timeout(20):
            while not at.notebook.applied:  # noqa: ASYNC110 the run stores now and then
                await asyncio.sleep(0.05)
        kept = at.notebook.applied[0]
        assert isinstance(kept, CellOutputs)
        assert kept.outputs[0]["text"] == "early\n"
        assert at.runner.inputs.answer(SESSION, CALL, "Ada")
        run = await running
        assert at.notebook.cell("a").outputs == run.outputs


async def test_outputs_in_a_page_are_not_stored_on_the_way(
    kernels: OneKernel, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(output_autosave, "STORE_SECONDS", 0.0)
    source = "import time\nprint('early', flush=True)\ntime.sleep(1.2)"
    async with bench(kernels, source, page=True) as at:
        await at.run("a")
        assert at.notebook.applied == []


async def test_busy_kernel_refuses_where_that_is_the_policy(kernels: OneKernel, tmp_path: Path):
    gate = tmp_path / "go"
    async with user_of(kernels.manager) as user, bench(kernels, refuses_busy=True) as at:
        await at.run_source("pass")
        user.execute(f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.02)")
        await busy_elsewhere(at, busy=True)
        with pytest.raises(Conflict, match="busy with something the user is running") as caught:
            await at.run_source("'never'")
        assert caught.value.info.code == "kernel_busy"
        gate.touch()
        await busy_elsewhere(at, busy=False)
        assert (await at.run_source("'now'")).status == "ok"


async def busy_elsewhere(at: KernelHarness, *, busy: bool) -> None:
    """Wait until the agent's connection, which may lag behind the user's, has this state."""
    connection = at.queues.connection("the-kernel")
    assert connection is not None
    async with asyncio.timeout(20):
        while connection.is_busy_elsewhere is not busy:  # noqa: ASYNC110 nothing tells of it
            await asyncio.sleep(0.02)
