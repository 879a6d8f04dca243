"""A cell's output as ``talk`` sees it: a display that is updated, lines, and what is typed.

Made by ``magics``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from getpass import getpass
from typing import Any

from jupyter_ai_shoulders.kernel.answer_rendering import Bundle, markdown_bundle
from jupyter_ai_shoulders.wire.hidden_characters import legible, visible


class CellTurnDisplay:
    """The output of the cell that runs."""

    def __init__(self, look: Callable[[str], Bundle] = markdown_bundle) -> None:
        """``look`` makes the display data of an answer that is not complete."""
        self._look = look
        self._handle: Any = None

    def show(self, text: str) -> None:
        """See ``talk.Screen.show``."""
        self.put(self._look(text))

    def put(self, data: Bundle) -> None:
        """Show data in the place of what was shown."""
        from IPython.display import DisplayHandle

        handle: Any = self._handle or DisplayHandle()
        show = handle.display if self._handle is None else handle.update
        show(data, raw=True)
        self._handle = handle

    def say(self, line: str) -> None:
        """See ``talk.Screen.say``."""
        sys.stdout.write(f"{legible(line)}\n")
        sys.stdout.flush()

    def ask(self, prompt: str, *, password: bool = False) -> str:
        """See ``talk.Screen.ask``."""
        question = visible(prompt)
        return getpass(question) if password else input(question)
