from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_file import StateFile


@pytest.fixture
def file(tmp_path: Path) -> StateFile:
    return StateFile(StateDirectory(tmp_path / ".shoulders"), "tools.json")


def test_a_missing_file_reads_as_none_and_makes_no_directory(
    file: StateFile, tmp_path: Path
) -> None:
    assert file.read() is None
    assert not (tmp_path / ".shoulders").exists()


def test_write_replaces_the_file_and_leaves_nothing_behind(file: StateFile, tmp_path: Path) -> None:
    file.write("old")
    file.write("new — ✓\n")

    assert file.read() == "new — ✓\n"
    assert sorted(path.name for path in (tmp_path / ".shoulders").iterdir()) == [
        ".gitignore",
        "tools.json",
    ]


def test_a_failed_write_keeps_the_old_file(
    file: StateFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StateUnavailable, match="full"):
        file.write("new")

    assert file.read() == "old"
    assert len(list((tmp_path / ".shoulders").iterdir())) == 2


def test_a_file_that_is_not_utf8_is_read_as_far_as_it_goes(file: StateFile, tmp_path: Path) -> None:
    file.write("{}")
    (tmp_path / ".shoulders" / "tools.json").write_bytes(b'{"a": "\xff"}')

    assert file.read() == '{"a": "�"}'
