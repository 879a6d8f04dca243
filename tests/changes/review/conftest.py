from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.changes.notebook_harness import cell
from tests.changes.review.harness import ReviewWorld, review_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ReviewWorld]:
    """A notebook of three cells and an empty workspace."""
    with review_world(tmp_path, cell("a", "a1\na2\na3"), cell("b", "b1"), cell("c", "c1")) as made:
        yield made
