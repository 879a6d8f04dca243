"""Reading configuration files; waiting for a named pipe's writer would cause a timeout."""

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_ai_shoulders.guard.config_files import (
    LARGEST,
    MOST_VALUES,
    UnusableFile,
    read_config,
    read_json_config,
)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no such files")


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


def many_values(path: Path) -> None:
    path.write_text(json.dumps(list(range(MOST_VALUES + 2))))


KINDS: dict[str, tuple[Callable[[Path], object], str]] = {
    "pipe": (os.mkfifo, "It is a named pipe, not a file; it is not used."),
    "folder": (Path.mkdir, "It is a folder, not a file; it is not used."),
    "socket": (a_socket, "It is a socket, not a file; it is not used."),
    "device": (lambda path: path.symlink_to("/dev/zero"), "It is a device, not a file"),
    "large": (lambda path: path.write_bytes(b" " * (LARGEST + 1)), "Larger than 4 MB"),
    "many values": (many_values, "It has more than 10,000 values; it is not used."),
    "nesting": (lambda path: path.write_text("[" * 500), "It has more than 100 levels of nesting"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_configuration_file_is_refused_without_waiting(
    tmp_path: Path, kind: str
) -> None:
    make, problem = KINDS[kind]
    path = tmp_path / "c.json"
    make(path)

    with pytest.raises(UnusableFile) as raised:
        read_json_config(path)

    assert str(raised.value).startswith(problem)


def test_a_file_is_read_whole_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * LARGEST)
    (tmp_path / "link").symlink_to("file")

    assert read_config(tmp_path / "link") == b"x" * LARGEST


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_config(tmp_path / "none")
