import pytest

from jupyter_ai_shoulders.notebook.base import CellRun
from jupyter_ai_shoulders.notebook.execution.pip_failures import mark_failed_install
from jupyter_ai_shoulders.wire.base import JsonObject

NOT_FOUND = (
    "\x1b[31mERROR: Could not find a version that satisfies the requirement nope\x1b[0m\n"
    "\x1b[31mERROR: No matching distribution found for nope\x1b[0m\n"
    "Note: you may need to restart the kernel to use updated packages.\n"
)
RESOLVER = (
    "ERROR: pip's dependency resolver does not currently take into account all\nInstalled x\n"
)


def run(text: str, status: str = "ok") -> CellRun:
    output: JsonObject = {"output_type": "stream", "name": "stdout", "text": text}
    assert status in {"ok", "error"}
    return CellRun("ok" if status == "ok" else "error", (output,), 1, 5, "kernel")


@pytest.mark.parametrize(
    ("source", "text", "failure"),
    [
        (
            "%pip install nope",
            NOT_FOUND,
            "pip failed: ERROR: No matching distribution found for nope",
        ),
        (
            "x = 1\n!pip3 install nope",
            NOT_FOUND,
            "pip3 failed: ERROR: No matching distribution found for nope",
        ),
        (
            "!python -m pip install nope",
            NOT_FOUND,
            "pip failed: ERROR: No matching distribution found for nope",
        ),
        (
            "%conda install nope",
            "PackagesNotFoundError: nope\n",
            "conda failed: PackagesNotFoundError: nope",
        ),
        (
            "!uv pip install nope",
            "  × No solution found when resolving\n",
            "uv failed: × No solution found when resolving",
        ),
        ("%pip install fine", "Successfully installed fine\n", None),
        ("%pip install fine", RESOLVER, None),
        ("print('ERROR: of mine')", "ERROR: of mine\n", None),
        ("# %pip install nope", NOT_FOUND, None),
    ],
)
def test_an_installation_that_failed_is_an_error(source: str, text: str, failure: str | None):
    ended = mark_failed_install(run(text), source)
    assert (ended.status, ended.failure) == (("error", failure) if failure else ("ok", None))


def test_a_run_that_failed_otherwise_keeps_its_reason():
    failed = run(NOT_FOUND, "error")
    assert mark_failed_install(failed, "%pip install nope") is failed
