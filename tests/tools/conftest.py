"""What tests of tools ask for."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.tools.file_conversation import FileConversation, open_file_conversation


@pytest.fixture
def files(
    tmp_path: Path, jp_asyncio_loop: asyncio.AbstractEventLoop
) -> Generator[FileConversation]:
    """Return a conversation with the file tools."""
    with open_file_conversation(tmp_path, jp_asyncio_loop) as made:
        yield made
