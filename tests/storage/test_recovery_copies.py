import stat
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.storage.recovery_copies import RecoveryCopyFiles
from jupyter_ai_shoulders.storage.state_directory import StateDirectory


def test_copies_are_kept_in_private_files_until_they_are_removed(tmp_path: Path) -> None:
    files = RecoveryCopyFiles(StateDirectory(tmp_path / "state"))
    files.put("one", "Ein Text")
    files.put("two", "first")
    files.put("two", "second")
    assert files.read_all() == {"one": "Ein Text", "two": "second"}
    folder = tmp_path / "state" / "recovery"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files.remove("one")
    files.remove("never kept")
    assert files.read_all() == {"two": "second"}
    assert [path.name for path in folder.iterdir()] == ["two.json"]


def test_state_directory_that_does_not_exist_holds_no_copies(tmp_path: Path) -> None:
    files = RecoveryCopyFiles(StateDirectory(tmp_path / "state"))
    assert files.read_all() == {}
    files.remove("x")
    assert not (tmp_path / "state").exists()


def test_state_directory_that_is_a_file_is_not_available(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    files = RecoveryCopyFiles(StateDirectory(tmp_path / "state"))
    with pytest.raises(StateUnavailable):
        files.put("x", "y")
