"""Real kernels of other languages: run, outputs, errors, interrupt, restart, variables.

``test_kernel_languages`` tries bash, whose kernel is a small Python package. R is tried where it is
installed (``apt-get install r-cran-irkernel``) with ``python -m
tests.notebook.kernels.kernel_languages ir``.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels
from jupyter_ai_shoulders.notebook.kernels.variables import KernelVariables
from jupyter_ai_shoulders.notebook.render import run_text
from jupyter_ai_shoulders.wire.ids import CellId
from tests.notebook.kernels.real_kernel import PATH, KernelHarness, bench


@dataclass(frozen=True)
class Language:
    """The test code in one language."""

    kernel: str
    language: str
    prints: str
    """Prints ``seen`` and 42."""
    keeps: str
    shows: str
    """Prints what ``keeps`` set to ``kept``."""
    fails: str
    """Fails with ``said`` in the failure or the output."""
    said: str
    sleeps: str
    """Prints ``begun``, then takes a minute."""
    has_variables: bool


LANGUAGES = {
    "bash": Language(
        kernel="bash",
        language="bash",
        prints="echo seen; echo $((6 * 7))",
        keeps="kept=kept",
        shows="echo $kept",
        fails="ls /no/such/place",
        said="No such file or directory",
        sleeps="echo begun; sleep 60",
        has_variables=False,
    ),
    "ir": Language(
        kernel="ir",
        language="R",
        prints='cat("seen\\n"); 6 * 7',
        keeps='kept <- "kept"',
        shows="cat(kept)",
        fails='stop("told so")',
        said="told so",
        sleeps='cat("begun\\n"); flush.console(); Sys.sleep(60)',
        has_variables=True,
    ),
}


async def try_language(language: Language, root: Path) -> list[str]:
    """Run all tests on a kernel; return a line per observation. Raises ``AssertionError``."""
    kernels = LocalKernels(root)
    try:
        async with bench(kernels) as at:
            at.notebook.metadata["kernelspec"] = {"name": language.kernel}
            seen = await _runs(language, at)
            seen += await _interrupt(language, at)
            seen += await _variables(language, at, kernels)
            handle = await kernels.find(PATH)
            assert handle is not None
            assert handle.language == language.language
            await kernels.restart(handle.kernel_id)
            after = await at.run_source(language.shows)
            assert "kept" not in run_text(1, CellId("x"), after).partition("\n")[2].split()
            return [*seen, "restarted: variables are gone"]
    finally:
        await kernels.aclose()


async def _runs(language: Language, at: KernelHarness) -> list[str]:
    run = await at.run_source(language.prints)
    text = run_text(1, CellId("x"), run)
    assert run.status == "ok", run
    assert "seen" in text, text
    assert "42" in text, text
    await at.run_source(language.keeps)
    shown = await at.run_source(language.shows)
    assert "kept" in run_text(1, CellId("x"), shown)
    failed = await at.run_source(language.fails)
    assert language.said in run_text(1, CellId("x"), failed), failed
    assert failed.status == "error", failed
    return [f"ran: {text!r}", f"failed: {failed.failure!r}"]


async def _interrupt(language: Language, at: KernelHarness) -> list[str]:
    at.progress = []
    task = asyncio.create_task(at.run_source(language.sleeps))
    await at.reported("stdout")
    task.cancel()
    async with asyncio.timeout(30):
        await asyncio.wait([task])
    shown = await at.run_source(language.shows)
    assert "kept" in run_text(1, CellId("x"), shown)
    return ["interrupted: variables are kept"]


async def _variables(language: Language, at: KernelHarness, kernels: LocalKernels) -> list[str]:
    variables = KernelVariables(kernels, at.queues, SystemClock())
    try:
        look = await variables.describe(PATH, "schema_only")
    except InvalidRequest as error:
        if language.has_variables:
            raise
        return [f"variables: refused, {error}"]
    finally:
        await variables.aclose()
    assert language.has_variables
    names = [variable.name for variable in look.namespace.variables]
    assert "kept" in names, names
    return [f"variables: {names}"]


def main() -> None:
    """Try the languages named on the command line."""
    for name in sys.argv[1:] or ["bash"]:
        with tempfile.TemporaryDirectory() as folder:
            for line in asyncio.run(try_language(LANGUAGES[name], Path(folder))):
                sys.stdout.write(f"{name}: {line}\n")


if __name__ == "__main__":
    main()
