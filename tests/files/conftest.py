"""What tests of files ask for."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.files.place import Place, place


@pytest.fixture
def here(tmp_path: Path) -> Generator[Place]:
    """Return a workspace with everything around files."""
    with place(tmp_path) as made:
        yield made
