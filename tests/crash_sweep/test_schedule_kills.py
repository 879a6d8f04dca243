"""A sample of the kills around scheduled runs; ``make sweep`` does a hundred and more."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the servers that are killed are forked")
def test_a_server_killed_around_the_start_of_runs_neither_repeats_nor_loses_one() -> None:
    words = [sys.executable, "-m", "tests.crash_sweep.schedule_kills", "--kills", "6"]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    tally = json.loads(ended.stdout)
    assert tally["kills"] >= 6
    assert tally["runs"] >= 6
    assert tally["violations"] == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the servers that are killed are forked")
def test_a_server_killed_between_a_change_and_its_run_neither_repeats_nor_loses_it() -> None:
    words = [sys.executable, "-m", "tests.crash_sweep.watcher_kills"]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert json.loads(ended.stdout) == {"kills": 7, "violations": []}
