"""The real terminal chat in a pseudo-terminal.

A test waits for text to appear, however long that takes, and types only when asked.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pexpect
import pytest

SECONDS = 240
"""Timeout of a test; only a text that never appears takes this long."""
CTRL_C, CTRL_D = "\x03", "\x04"
PROMPT = "\r\n> "
PASTE = "\x1b[?2004h"
"""Written by prompt_toolkit when it starts to read a line, except on dumb terminals."""
DENY = "[n]o: "
"""The end of the approval question."""


@dataclass
class ChatProcess:
    """The process, and its output."""

    process: Any
    """A ``pexpect.spawn`` of text; its annotations are incomplete."""
    shown: io.StringIO = field(default_factory=io.StringIO)
    """All of its output."""

    def sees(self, text: str = PROMPT) -> str:
        """Wait for a text, by default the prompt; return everything before it."""
        self.process.expect_exact(text)
        return str(self.process.before).replace("\r\n", "\n")

    def types(self, line: str) -> None:
        """Type a line."""
        self.process.send(f"{line}\r")

    def presses(self, key: str) -> None:
        """Press a key."""
        self.process.send(key)

    def does(self, line: str) -> str:
        """Type a line; return the output up to the next prompt."""
        self.types(line)
        return self.sees()

    def dies(self, signal_number: int) -> None:
        """Kill the process as a crash would."""
        self.process.kill(signal_number)
        self.process.expect(pexpect.EOF)
        self.process.wait()

    def ends(self) -> int:
        """Wait for the end; return the exit code."""
        self.process.expect(pexpect.EOF)
        self.process.wait()
        assert self.process.exitstatus is not None, self.process.signalstatus
        return self.process.exitstatus


Start = Callable[..., ChatProcess]
"""Starts a chat with arguments; by keyword ``term``, ``columns``, ``env``."""


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts chats, which end with the test."""
    begun: list[Any] = []

    def started(
        *arguments: str,
        term: str = "dumb",
        columns: int = 200,
        env: Mapping[str, str] | None = None,
    ) -> ChatProcess:
        kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        process: Any = cast("Any", pexpect.spawn)(
            sys.executable,
            ["-m", "jupyter_ai_shoulders.cli", "chat", *arguments],
            env={**kept, "TERM": term, "PROMPT_TOOLKIT_NO_CPR": "1", **(env or {})},
            encoding="utf-8",
            timeout=SECONDS,
            dimensions=(50, columns),
        )
        begun.append(process)
        chat = ChatProcess(process)
        process.logfile_read = chat.shown
        return chat

    yield started
    for process in begun:
        process.close(force=True)
