"""Crash points do nothing unless a process is started to be killed at one."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core import crash_points
from jupyter_ai_shoulders.core.crash_points import (
    ENABLED,
    CrashPlan,
    CrashPoints,
    crash_plan_from_environment,
)
from tests.crash_sweep.crash_points import list_crash_points

CODE = """
from jupyter_ai_shoulders.core.crash_points import crash_point
for name in ("a", "b", "a", "c"):
    crash_point(name)
print("alive")
"""


def run(plan: str | None) -> subprocess.CompletedProcess[str]:
    environment = {name: text for name, text in os.environ.items() if name != ENABLED}
    if plan is not None:
        environment[ENABLED] = plan
    return subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=False
    )


def test_a_process_that_is_not_told_meets_its_points_without_a_trace() -> None:
    assert run(None).stdout == "alive\n"


@pytest.mark.parametrize(
    ("plan", "met"),
    [
        ("at=1", ["a"]),
        ("at=3", ["a", "b", "a"]),
        ("at=2,name=a", ["a", "b", "a"]),
        ("at=1,name=c", ["a", "b", "a", "c"]),
    ],
)
def test_a_process_dies_at_the_point_it_is_told(tmp_path: Path, plan: str, met: list[str]) -> None:
    trace = tmp_path / "points"

    ended = run(f"trace={trace},{plan}")

    assert (ended.returncode, ended.stdout) == (-9, "")
    assert trace.read_text().split() == met


def test_a_process_that_is_not_hit_writes_all_its_points(tmp_path: Path) -> None:
    trace = tmp_path / "points"

    ended = run(f"trace={trace},at=5")

    assert (ended.returncode, ended.stdout) == (0, "alive\n")
    assert trace.read_text().split() == ["a", "b", "a", "c"]


def test_a_plan_with_unknown_words_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown when"):
        crash_plan_from_environment("when=1")


def test_a_new_plan_counts_anew(tmp_path: Path) -> None:
    points = CrashPoints(CrashPlan(trace=str(tmp_path / "first")))
    points("a")
    points.plan(CrashPlan(trace=str(tmp_path / "second")))
    points("b")
    points.plan(CrashPlan())

    assert (tmp_path / "first").read_text() == "a\n"
    assert (tmp_path / "second").read_text() == "b\n"


def test_points_cost_next_to_nothing_when_off() -> None:
    since = time.perf_counter()
    for _ in range(10_000):
        crash_points.crash_point("nothing")
    assert time.perf_counter() - since < 0.5


def test_there_are_at_least_forty_points_each_named_once() -> None:
    assert len(list_crash_points()) >= 40
