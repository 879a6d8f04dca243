"""Versions of cells and files, on the fixtures shared with the page."""

import hashlib
import json
from pathlib import Path

import pytest

from jupyter_ai_shoulders.wire.versions import cell_version, file_version, text_version, well_formed

TABLE = json.loads((Path(__file__).parent / "fixtures" / "versions.json").read_text("utf-8"))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["name"])
def test_cell_version_matches_the_table(row: dict[str, str]) -> None:
    assert cell_version(row["source"]) == row["version"]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["name"])
def test_text_version_is_the_whole_hash_of_the_same(row: dict[str, str]) -> None:
    version = text_version(row["source"])
    assert (version[:16], len(version)) == (row["version"], 64)


def test_lone_surrogates_count_as_the_replacement_character() -> None:
    assert well_formed("a\ud800b") == "a\ufffdb"
    assert cell_version("a\ud800b") == cell_version("a\udc00b") == cell_version("a\ufffdb")


def test_a_pair_of_code_units_is_the_character_it_stands_for() -> None:
    assert cell_version("\ud83d\udc27") == cell_version("🐧")


def test_file_version_is_the_whole_hash_of_the_bytes() -> None:
    assert file_version(b"\xff\x00") == hashlib.sha256(b"\xff\x00").hexdigest()
