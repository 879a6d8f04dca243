import json
import sys
from pathlib import Path

import pytest

from tests.notebook.kernels.kernel_languages import LANGUAGES, try_language


async def test_a_kernel_of_another_language_is_run_interrupted_and_restarted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    spec = tmp_path / "share" / "kernels" / "bash"
    spec.mkdir(parents=True)
    argv = [sys.executable, "-m", "bash_kernel", "-f", "{connection_file}"]
    content = {"argv": argv, "display_name": "Bash", "language": "bash"}
    (spec / "kernel.json").write_text(json.dumps(content))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))
    monkeypatch.setenv("HOME", str(tmp_path))
    seen = await try_language(LANGUAGES["bash"], tmp_path)
    assert seen[1:] == [
        "failed: 'Error: 2'",
        "interrupted: variables are kept",
        "variables: refused, Variables of bash kernels cannot be inspected.",
        "restarted: variables are gone",
    ]
