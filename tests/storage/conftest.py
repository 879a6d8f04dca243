"""Stores on temporary directories, closed at the end of the test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.storage.store import MovableClock, OpenStore, Store


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    """Return the future state directory; it does not exist yet."""
    return tmp_path / "workspace" / ".shoulders"


@pytest.fixture
def open_store(state_dir: Path, clock: MovableClock) -> Iterator[OpenStore]:
    """Return a function that opens a store; call it again after ``crash`` for the next process."""
    opened: list[Store] = []

    def factory(
        path: Path = state_dir, vfs: str | None = None, redact: Callable[[str], str] = str
    ) -> Store:
        opened.append(Store(path, clock, vfs, redact))
        return opened[-1]

    yield factory
    for store in opened:
        store.database.close()


@pytest.fixture
def store(open_store: OpenStore) -> Store:
    return open_store()
