"""The main job in an environment: what Jupyter lists, a server, a turn of the demo, unit tests.

Each step is a function of the environment that returns a few words and raises where it fails.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping

from jupyter_ai_shoulders import __version__
from tests.dependency_versions.declared_versions import REPOSITORY
from tests.dependency_versions.environment import Environment, StepFailed
from tests.integration.client import Api, of_type
from tests.simulator_process import notebook, texts
from tests.support.lab_server import Lab

UNIT_TESTS = (
    "tests/cli/chat/test_text_layout.py",  # prompt_toolkit
    "tests/core",
    "tests/files/previews/test_document_previews.py",  # pyarrow, pypdf, calamine, docx
    "tests/files/previews/test_tables.py",
    "tests/guard/network/test_addresses.py",
    "tests/guard/search/test_globs.py",
    "tests/kernel/panel/test_transcript_rendering.py",
    "tests/kernel/test_answer_rendering.py",  # mistune
    "tests/notebook/analysis/test_name_analysis.py",
    "tests/notebook/formats/test_cell_ids.py",
    "tests/notebook/outputs/test_collector.py",  # nbformat
    "tests/notebook/test_render.py",
    "tests/notebook/formats/test_splice.py",
    "tests/notebook/kernels/test_display_throttle.py",
    "tests/providers/streaming/test_assembler.py",
    "tests/providers/streaming/test_sse.py",
    "tests/retrieval/vectors/test_vector_stores.py",  # qdrant-edge-py, qdrant-client
    "tests/wire/test_conversation_reducer.py",  # pydantic
    "tests/wire/test_hidden_characters.py",
    "tests/wire/test_versions.py",
)
"""Quick ones that need no fixture of ``tests/conftest.py``: that imports the vendors' SDKs, which
cannot be installed beside the lowest versions."""
_OPTIONS = """\
[pytest]
addopts = -p pytest_jupyter.jupyter_server --import-mode=importlib
pythonpath = .
"""


def listed(environment: Environment) -> str:
    """Jupyter finds both halves, and both are enabled and load."""
    server = _plain(environment.call("jupyter", "server", "extension", "list"))
    lab = _plain(environment.call("jupyter", "labextension", "list"))
    _holds("jupyter_ai_shoulders enabled" in server, server)
    _holds(f"jupyter_ai_shoulders {__version__} OK" in server, server)
    _holds(f"jupyter-ai-shoulders v{__version__} enabled OK" in lab, lab)
    return "both halves"


def doctor(environment: Environment) -> str:
    """The doctor finds nothing that keeps the package from working."""
    environment.call("jupyter", "shoulders", "doctor", "--no-server")
    return "no failure"


def turn(environment: Environment) -> str:
    """A JupyterLab server answers, and the demo edits and runs a cell of a notebook."""
    root, state = environment.folder / "workspace", environment.folder / "state"
    root.mkdir()
    path = root / "broken.ipynb"
    path.write_text(notebook(("broken", "print(math.floor(3.7))")))
    lab = Lab(root, state, env=environment.variables, python=str(environment.python))
    lab.start()
    try:
        api = Api(lab)
        _holds(api.get("status")["demo"] is True, lab.log)
        session = api.session()
        context = {"active_document": path.name, "active_cell_id": "broken"}
        api.send(session, "Please fix cell 1.", context=context)
        events = api.turn(session)
    finally:
        lab.stop()
    ends = [event["exit"] for event in of_type(events, "turn-end")]
    cells = json.loads(path.read_text())["cells"]
    (cell,) = (each for each in cells if each["id"] == "broken")
    _holds(ends == ["final_response"], f"{ends}\n{lab.log}")
    _holds("import math" in "".join(cell["source"]), cell)
    _holds(texts(cells, "broken") == "3\n", cell)
    return "edited and ran a cell"


def unit_tests(environment: Environment) -> str:
    """The chosen unit tests pass with the installed package; its source is out of sight."""
    place = environment.folder / "unit"
    place.mkdir()
    shutil.copytree(REPOSITORY / "tests", place / "tests", ignore=shutil.ignore_patterns("ui"))
    (place / "pytest.ini").write_text(_OPTIONS)
    printed = environment.call(
        *("python", "-m", "pytest", "-q", "--noconftest", "-p", "no:cacheprovider", *UNIT_TESTS),
        cwd=place,
    )
    return printed.strip().splitlines()[-1].partition(" in ")[0]


STEPS: Mapping[str, Callable[[Environment], str]] = {
    "extension lists": listed,
    "doctor": doctor,
    "demo turn": turn,
    "unit tests": unit_tests,
}


def _plain(printed: str) -> str:
    """Return what a program printed without its colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", printed)


def _holds(condition: bool, found: object) -> None:
    if not condition:
        raise StepFailed(str(found)[-4_000:])
