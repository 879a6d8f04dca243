import hashlib
import os
import stat
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import NotFound, StateUnavailable
from jupyter_ai_shoulders.storage.blobs import FileBlobs
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.wire.ids import BlobHash


@pytest.fixture
def blobs(tmp_path: Path) -> FileBlobs:
    return FileBlobs(StateDirectory(tmp_path / ".shoulders"))


@pytest.mark.parametrize("content", [b"", b"prompt", bytes(range(256)) * 1000])
def test_put_gives_the_hash_under_which_get_finds_it(blobs: FileBlobs, content: bytes) -> None:
    blob = blobs.put(content)

    assert blob == hashlib.sha256(content).hexdigest()
    assert blobs.get(blob) == content
    assert blobs.put(content) == blob


def test_flush_syncs_each_new_blob_and_its_directory_once(
    blobs: FileBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bool] = []

    def fsync(descriptor: int) -> None:
        synced.append(stat.S_ISDIR(os.fstat(descriptor).st_mode))

    monkeypatch.setattr(os, "fsync", fsync)
    blobs.put(b"one")
    blobs.put(b"two")
    blobs.put(b"one")

    blobs.flush()
    blobs.flush()

    assert synced == [False, True, False, True]


def test_nothing_else_is_left_in_the_directory(blobs: FileBlobs, tmp_path: Path) -> None:
    blob = blobs.put(b"one")
    files = [path for path in (tmp_path / ".shoulders").rglob("*") if path.is_file()]

    assert {str(path.relative_to(tmp_path / ".shoulders")) for path in files} == {
        ".gitignore",
        f"blobs/{blob[:2]}/{blob[2:]}",
    }


@pytest.mark.parametrize(
    "name", ["", "ab", "../../../../etc/passwd", "0" * 63 + "/", "0" * 64], ids=repr
)
def test_get_of_what_is_not_stored_is_refused(blobs: FileBlobs, name: str) -> None:
    with pytest.raises(NotFound):
        blobs.get(BlobHash(name))


def test_a_damaged_blob_is_named_and_put_again(blobs: FileBlobs) -> None:
    blob = blobs.put(b"content")
    blobs.path(blob).write_bytes(b"cont")

    with pytest.raises(StateUnavailable, match=blob):
        blobs.get(blob)

    blobs.put(b"content")
    assert blobs.get(blob) == b"content"


def test_put_into_a_directory_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StateUnavailable, match="not a directory"):
        FileBlobs(StateDirectory(tmp_path / "file" / "x")).put(b"content")
