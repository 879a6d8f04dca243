"""The worker process for untrusted bytes: its input, limits and end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_ai_shoulders.guard.process.worker_process import run_worker

WORKER = "jupyter_ai_shoulders.files.previews.worker"


def test_helper_gets_the_bytes_and_answers():
    done = run_worker(WORKER, ("pdf",), b"no PDF", 60)
    assert done.status == 0
    assert json.loads(done.output)["code"] == "invalid_request"


def test_helper_that_takes_too_long_is_ended():
    done = run_worker("timeit", ("-n1", "-r1", "import time; time.sleep(60)"), b"", 0.5)
    assert done.status is None


def test_helper_sees_no_keys_and_no_module_of_the_folder_it_was_called_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "timeit.py").write_text("print('from the workspace')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-for-helpers")
    statement = "import os; print('ANTHROPIC_API_KEY' in os.environ)"
    done = run_worker("timeit", ("-n1", "-r1", statement), b"", 60)
    assert done.status == 0
    assert done.output.startswith(b"False\n")


def test_helper_that_fails_says_so():
    done = run_worker("timeit", ("-n1", "-r1", "raise ValueError('broken')"), b"", 60)
    assert done.status == 1
    assert "broken" in done.stderr_tail + done.output.decode()
