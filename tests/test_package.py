"""The package as loaded by Jupyter: versions agree, and importing it is cheap."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import jupyter_ai_shoulders

REPOSITORY = Path(__file__).parents[1]


def test_version_is_the_same_in_both_halves():
    package = json.loads((REPOSITORY / "labextension/package.json").read_text())
    assert package["version"] == jupyter_ai_shoulders.__version__


@pytest.mark.parametrize(
    "program",
    [
        "import jupyter_ai_shoulders",
        "from jupyter_ai_shoulders import ChatPanel, Client; Client()",
        "from jupyter_ai_shoulders.kernel import magics",
    ],
    ids=["package", "notebook names", "magics"],
)
def test_import_loads_nothing_heavy(program: str):
    heavy = {"httpx", "jupyter_server", "nbformat", "pydantic", "tornado", "websocket"}
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; {program}; print(*sorted({heavy} & set(sys.modules)))",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split() == []


@pytest.mark.parametrize("words", [["--help"], ["mcp", "config", "codex"]], ids=["help", "entry"])
def test_the_command_line_imports_the_protocol_sdks_on_their_use_only(words: list[str]):
    program = (
        "import sys\nfrom jupyter_ai_shoulders.cli.main import main\n"
        f"try: main({words!r})\nexcept SystemExit: pass\n"
        "print('loaded:', *{'mcp', 'mcp_types', 'starlette', 'acp'} & sys.modules.keys())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines()[-1] == "loaded:"
