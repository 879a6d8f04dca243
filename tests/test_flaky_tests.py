"""`make test` reports tests that fail once, and accepts only a few of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.flaky_tests import MOST

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
HANGS = """
import pathlib
import time
import pytest

@pytest.mark.timeout(2)
def test_second_time():
    seen = pathlib.Path(__file__).with_name("seen")
    first = not seen.exists()
    seen.touch()
    assert not first, "not the first time"
    while True:
        time.sleep(0.1)
"""
SHARED = """
import pytest

made = []
ended = []

@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    made.append(len(made))
    yield made[-1]
    ended.append(made[-1])

@pytest.fixture(scope="module")
def upon_it(shared):
    return shared

def test_before(upon_it):
    assert upon_it == 0

def test_second_time(upon_it):
    assert upon_it == 1, "not the first time"
    assert ended == [0]

def test_after(upon_it):
    assert upon_it == 1
    assert ended == [0]
"""
CONFTEST = """
from tests.support.flaky_tests import FlakyTestReport

def pytest_configure(config):
    config.pluginmanager.register(FlakyTestReport())
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "with a worker"])
@pytest.mark.parametrize(("count", "code"), [(1, 0), (MOST + 1, 1)], ids=["few", "many"])
def test_tests_that_fail_once_are_told_and_many_of_them_fail_the_run(
    tmp_path: Path, count: int, code: int, workers: tuple[str, ...]
) -> None:
    ran = run(tmp_path, SOURCE.format(count=count), *workers)
    assert ran.returncode == code, ran.stdout
    assert "failed once, run again" in ran.stdout
    assert f"{count} passed" in ran.stdout
    assert ran.stdout.count("AssertionError: not the first time") >= count
    assert "[0] (call) test_shaky.py:10 E " in ran.stdout
    assert ("the run failed" in ran.stdout) == bool(code)


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "with a worker"])
def test_what_a_failed_test_shares_with_others_is_made_anew(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    ran = run(tmp_path, SHARED, *workers)
    assert ran.returncode == 0, ran.stdout
    assert "3 passed" in ran.stdout
    assert "1 rerun" in ran.stdout


def test_a_test_that_hangs_when_it_is_run_again_has_its_limit(tmp_path: Path) -> None:
    ran = run(tmp_path, HANGS)
    assert ran.returncode == 1, ran.stdout
    assert "Timeout (>2.0s)" in ran.stdout


PLUGINS = ("rerunfailures", "timeout", "xdist")
"""Those of `make test` that matter here: others import Jupyter and vendors' SDKs."""


def run(folder: Path, source: str, *args: str) -> subprocess.CompletedProcess[str]:
    """Run a file of tests as `make test` does."""
    (folder / "test_shaky.py").write_text(source)
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT}\n")
    plugins = [f"-p{name}" for name in PLUGINS]
    command = [sys.executable, "-m", "pytest", *plugins, "--reruns", "1", *args, str(folder)]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", "-c", str(folder / "pytest.ini")],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
