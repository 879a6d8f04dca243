"""Hostile statements are refused or ended in time, and cost the server nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.storage.agent_database.requests import ERRORS
from tests.storage.agent_database.hostile_statements import ALL, Hostile

REPOSITORY = Path(__file__).parents[3]
LARGEST_GROWTH = 50 << 20
LONGEST_STALL = 0.1


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    place = tmp_path_factory.mktemp("hostile")
    done = subprocess.run(
        [sys.executable, "-m", "tests.storage.agent_database.hostile_program", str(place)],
        capture_output=True,
        check=True,
        cwd=REPOSITORY,
    )
    return json.loads(done.stdout)


def test_there_are_many_hostile_statements() -> None:
    assert len(ALL) >= 60


@pytest.mark.parametrize("number", range(len(ALL)), ids=lambda n: f"{n} {ALL[n].sql[:40]}")
def test_a_hostile_statement_is_refused_or_ended(measured: dict[str, Any], number: int) -> None:
    hostile: Hostile = ALL[number]
    error, message, _ = measured["outcomes"][number]
    named = {"unknown": "OutcomeUnknown", "ran": "ran"}
    allowed = {named.get(kind) or ERRORS[kind].__name__ for kind in hostile.kinds}
    assert error in allowed, (hostile.sql[:200], error, message)


def test_the_server_stays_small_and_answers(measured: dict[str, Any]) -> None:
    assert measured["grown"] < LARGEST_GROWTH
    assert measured["stall"] < LONGEST_STALL


def test_nothing_was_changed(measured: dict[str, Any]) -> None:
    assert measured["rows"] == [[1, "a"], [2, "b"]]
    assert measured["tables"] == ["kept"]
