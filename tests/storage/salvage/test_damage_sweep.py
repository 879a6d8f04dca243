"""A sample of ``python -m tests.storage_damage``: random damage, and no silent loss."""

from collections import Counter
from pathlib import Path
from random import Random

from tests.storage.salvage.test_damaged_database import Stored
from tests.storage_damage import play


def test_random_damage_is_survived_and_said(tmp_path: Path) -> None:
    stored, counts = Stored(tmp_path / "stored"), Counter[str]()
    problems = [
        problem
        for number in range(30)
        for problem in play(stored, tmp_path / str(number), Random(f"sample {number}"), counts)
    ]
    assert problems == []
    assert counts["restored"] > 0
