"""The variables of real kernels, also while they are busy or run another language."""

import ast
import asyncio
from collections.abc import Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound
from jupyter_ai_shoulders.notebook.base import KernelHandle
from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels
from jupyter_ai_shoulders.notebook.kernels.queue import KernelQueues
from jupyter_ai_shoulders.notebook.kernels.variable_info import variable_lines
from jupyter_ai_shoulders.notebook.kernels.variables import KernelVariables
from tests.notebook.kernels.hostile_objects import HOSTILE, NAMES
from tests.notebook.kernels.kernel_access import side
from tests.notebook.kernels.real_kernel import PATH, OneKernel, iopub_until, kernel_process


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Generator[AsyncKernelManager]:
    with kernel_process(tmp_path_factory.mktemp("kernel")) as manager:
        yield manager


FRAME = """
import numpy as np, pandas as pd
names = np.array(["anna", None, "otto"] * 3_400_000, dtype=object)
frame = pd.DataFrame({"n": np.arange(10_200_000.0), "who": pd.Series(names, dtype=object)})
"""


async def test_a_large_frame_is_told_without_its_values(manager: AsyncKernelManager) -> None:
    async with side(OneKernel(manager), manager) as at:
        await at.tell(FRAME)
        await at.seen("schema_only", "names")  # only the first request has to import
        await at.tell("import time; began = time.thread_time()")
        found = (await at.seen())["frame"]
        blocked = await at.tell("pass", seconds="time.thread_time() - began")
        assert float(blocked["seconds"]) < 1.0, "of the processor, however many share it"
        assert found.shape == (10_200_000, 2)
        numbers, names = found.columns
        assert (numbers.name, numbers.dtype, numbers.nulls) == ("n", "float64", 0)
        assert names.nulls_estimated
        assert names.nulls == pytest.approx(3_400_000, rel=0.1)
        assert "anna" not in found.model_dump_json()
        with_values = (await at.seen("samples", "frame"))["frame"]
        assert with_values.columns[0].sample == ("0.0", "1.0", "2.0")


async def test_a_look_leaves_the_users_results_and_numbers_alone(
    manager: AsyncKernelManager,
) -> None:
    history = {"under": "(_, __)", "out": "dict(Out)", "names": "sorted(globals())"}
    async with side(OneKernel(manager), manager) as at:
        await at.tell("del_me = 1")
        await at.tell("'result'")
        before = await at.tell("pass", **history)
        await at.seen()
        await at.seen("full", "del_me")
        after = await at.tell("pass", **history)
        names = {"under": before["under"], "out": before["out"]}
        assert {"under": after["under"], "out": after["out"]} == names
        added = set(ast.literal_eval(after["names"])) - set(ast.literal_eval(before["names"]))
        assert all(name.startswith("_i") for name in added), added


async def test_hostile_objects_in_a_kernel_are_told_and_not_called(
    manager: AsyncKernelManager,
) -> None:
    async with side(OneKernel(manager), manager) as at:
        await at.tell(HOSTILE)
        everything = await at.seen("full")
        asked = await at.seen("full", *NAMES)
        assert set(NAMES) <= everything.keys()
        assert set(NAMES) == asked.keys()
        assert await at.tell("pass", touched="touched") == {"touched": "[]"}
        await at.tell("del " + ", ".join(NAMES))


async def test_while_the_kernel_is_busy_its_last_answer_is_told_with_its_age(
    manager: AsyncKernelManager,
) -> None:
    async with side(OneKernel(manager), manager) as at:
        await at.tell("known = [1, 2]")
        await at.seen()
        code = "import time; unknown = 1; time.sleep(60)"
        users = asyncio.create_task(at.tell(code))
        await iopub_until(at.user, "execute_input", code=code)
        old = await at.variables.describe(PATH, "full", ["known"])
        assert old.why_old == "the kernel is busy"
        assert old.age_s > 0
        assert old.level == "schema_only"
        assert [variable.name for variable in old.namespace.variables] == ["known"]
        await manager.interrupt_kernel()
        await users
        assert (await at.seen())["unknown"].type == "int"


async def test_a_busy_kernel_that_was_never_asked_is_a_clear_refusal(
    manager: AsyncKernelManager,
) -> None:
    async with side(OneKernel(manager), manager) as at:
        code = "import time; time.sleep(60)"
        users = asyncio.create_task(at.tell(code))
        await iopub_until(at.user, "execute_input", code=code)
        with pytest.raises(Conflict, match="busy") as refused:
            await at.variables.describe(PATH, "schema_only")
        assert refused.value.info.code == "kernel_busy"
        await manager.interrupt_kernel()
        await users


async def test_a_kernel_that_answers_us_just_now_is_not_busy(manager: AsyncKernelManager) -> None:
    kernels = OneKernel(manager)
    async with side(kernels, manager) as at:
        handle = await kernels.find(PATH)
        assert handle is not None
        at.variables.refresh_soon(handle, 0)
        async with asyncio.timeout(20):
            while not at.queues.is_in_use(handle.kernel_id):  # noqa: ASYNC110 - no event to wait for
                await asyncio.sleep(0)
        look = await at.variables.describe(PATH, "schema_only")
        assert (look.why_old, look.age_s) == (None, 0)


async def test_a_run_whose_end_the_server_hears_late_is_waited_for(
    manager: AsyncKernelManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with side(OneKernel(manager), manager) as at:
        await at.tell("ended = 1")
        monkeypatch.setattr(manager, "execution_state", "busy", raising=False)
        asyncio.get_running_loop().call_later(
            0.1, lambda: setattr(manager, "execution_state", "idle")
        )
        assert (await at.variables.describe(PATH, "schema_only")).why_old is None


async def test_what_scratch_code_made_is_known_without_asking_again(
    manager: AsyncKernelManager,
) -> None:
    async with side(OneKernel(manager), manager) as at:
        at.queues.on_released = at.variables.refresh_soon
        await at.run("made_by_scratch = 5")
        async with asyncio.timeout(60):
            while (look := await at.variables.last(PATH)) is None:  # noqa: ASYNC110 - no event to wait for
                await asyncio.sleep(0.01)
        assert "made_by_scratch" in {variable.name for variable in look.namespace.variables}
        assert look.level == "schema_only"


async def test_another_life_of_the_kernel_has_none_of_the_old_variables(tmp_path: Path) -> None:
    kernels = LocalKernels(tmp_path)
    try:
        handle = await kernels.start(PATH, None)
        async with side(kernels, handle.manager) as at:
            await at.tell("before = 1")
            await at.seen()
            await handle.manager.restart_kernel(now=True)
            assert await at.variables.last(PATH) is None
            assert "before" not in await at.seen()
    finally:
        await kernels.aclose()


async def test_there_is_nothing_to_tell_without_a_kernel(tmp_path: Path) -> None:
    kernels = LocalKernels(tmp_path)
    queues = KernelQueues(kernels)
    variables = KernelVariables(kernels, queues, SystemClock())
    with pytest.raises(NotFound, match="no running kernel"):
        await variables.describe(PATH, "schema_only")
    assert await variables.last(PATH) is None
    await kernels.aclose()


class Foreign(OneKernel):
    """A kernel in a language without a snippet."""

    async def find(self, path: str) -> KernelHandle | None:
        async def is_alive() -> bool:
            return True

        other: Any = SimpleNamespace(is_alive=is_alive, execution_state="idle")
        return KernelHandle("other", "forth", "forth", other, self.manager.client)


async def test_a_language_without_a_snippet_is_refused(manager: AsyncKernelManager) -> None:
    kernels = Foreign(manager)
    variables = KernelVariables(kernels, KernelQueues(kernels), SystemClock())
    with pytest.raises(InvalidRequest, match="forth") as refused:
        await variables.describe(PATH, "schema_only")
    assert "run_code" in (refused.value.info.hint or "")


R = """
frame <- data.frame(n = c(1.5, NA, 3), who = factor(c("anna", "otto", NA)))
frame$day <- as.Date("2020-01-01") + 0:2
long <- rep(c(1, NA, 3, 4), 1e6)
print.evil <- function(x, ...) stop("called")
length.evil <- function(x) { touched <<- TRUE; stop("called") }
evil <- structure(list(1, "a"), class = "evil")
touched <- FALSE
makeActiveBinding("active", function() { touched <<- TRUE; 1 }, globalenv())
f <- function(x) x
api_key <- "anna"
l <- list(1, "a")
n <- NULL
"""


@pytest.mark.skipif("ir" not in KernelSpecManager().find_kernel_specs(), reason="no R kernel here")
async def test_the_variables_of_an_r_kernel_are_told_and_its_methods_not_called(
    tmp_path: Path,
) -> None:
    kernels = LocalKernels(tmp_path)
    try:
        handle = await kernels.start(PATH, "ir")
        async with side(kernels, handle.manager) as at:
            await at.user.wait_for_ready()
            assert (await at.run(R)).status == "ok"
            look = await at.variables.describe(PATH, "schema_only")
            found = {variable.name: variable for variable in look.namespace.variables}
            frame = found["frame"]
            assert (frame.type, frame.shape) == ("data.frame", (3, 3))
            told = [(column.name, column.dtype, column.nulls) for column in frame.columns]
            assert told == [("n", "double", 1), ("who", "factor", 1), ("day", "Date", 0)]
            assert found["long"].size == 4_000_000
            assert found["long"].nulls == pytest.approx(1_000_000, rel=0.1)
            assert (found["evil"].type, found["evil"].size) == ("evil", 2)
            assert found["active"].type == "active binding"
            assert found["l"].items == ("double", "character")
            assert set(look.namespace.functions) == {"print.evil", "f", "length.evil"}
            assert "anna" not in "\n".join(variable_lines(look.namespace))

            values = await at.seen("samples", "frame", "api_key", "l")
            assert values["frame"].columns[1].sample == ("anna", "otto", "NA")
            assert values["frame"].columns[2].sample == ("2020-01-01", "2020-01-02", "2020-01-03")
            assert values["api_key"].hidden
            touched = await at.run("touched")
            assert "[1] FALSE" in str(touched.outputs[0]["data"])
            failed = await at.run("stop('no')")
            assert failed.status == "error"
    finally:
        await kernels.aclose()
