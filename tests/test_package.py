"""The package as loaded by Jupyter: versions agree, and importing it is cheap."""

import json
import subprocess
import sys
from pathlib import Path

import jupyter_ai_shoulders

REPOSITORY = Path(__file__).parents[1]


def test_version_is_the_same_in_both_halves():
    package = json.loads((REPOSITORY / "labextension/package.json").read_text())
    assert package["version"] == jupyter_ai_shoulders.__version__


def test_importing_the_package_loads_nothing_heavy():
    heavy = {"httpx", "jupyter_server", "nbformat", "pydantic", "tornado"}
    program = f"import sys, jupyter_ai_shoulders; print(*sorted({heavy} & set(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == []
