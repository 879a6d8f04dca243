"""What `make test` makes of a test that fails once: told, and no more than a few of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.reruns import MOST

ROOT = Path(__file__).parents[1]
SOURCE = """
import pathlib
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_second_time(number, request):
    seen = pathlib.Path(__file__).with_name(f"seen-{{number}}")
    first = not seen.exists()
    seen.touch()
    assert not first, "not the first time"
"""
CONFTEST = """
from tests.reruns import Reruns

def pytest_configure(config):
    config.pluginmanager.register(Reruns())
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "with a worker"])
@pytest.mark.parametrize(("count", "code"), [(1, 0), (MOST + 1, 1)], ids=["few", "many"])
def test_tests_that_fail_once_are_told_and_many_of_them_fail_the_run(
    tmp_path: Path, count: int, code: int, workers: tuple[str, ...]
) -> None:
    (tmp_path / "test_shaky.py").write_text(SOURCE.format(count=count))
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT}\n")
    command = [sys.executable, "-m", "pytest", "--reruns", "1", *workers, str(tmp_path)]
    ran = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-c", str(tmp_path / "pytest.ini")],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert ran.returncode == code, ran.stdout
    assert "failed once, run again" in ran.stdout
    assert f"{count} passed" in ran.stdout
    assert ran.stdout.count("AssertionError: not the first time") >= count
    assert ("the run failed" in ran.stdout) == bool(code)
