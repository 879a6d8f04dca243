"""Fixtures for tests of files."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.files.file_workspace import FileWorkspace, file_workspace


@pytest.fixture
def here(tmp_path: Path) -> Generator[FileWorkspace]:
    """Return a workspace with its file services."""
    with file_workspace(tmp_path) as made:
        yield made
