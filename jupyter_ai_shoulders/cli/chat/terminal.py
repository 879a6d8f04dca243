"""The terminal of the chat: what is written and typed, by prompt_toolkit. Made by ``chat``.

Without colours where the terminal is dumb or the user wants none (``NO_COLOR``).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from getpass import getpass
from textwrap import wrap

from prompt_toolkit import PromptSession, print_formatted_text
from prompt_toolkit.completion import Completer, WordCompleter
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import create_output
from prompt_toolkit.utils import is_dumb_terminal

from jupyter_ai_shoulders.cli.chat.line_wrapping import EXACT, LineWrapper
from jupyter_ai_shoulders.cli.chat.markdown_styles import Piece
from jupyter_ai_shoulders.wire.hidden_characters import LegibleStream, visible

NOTE = "ansibrightblack"
WARNING = "ansiyellow"


class TerminalScreen:
    """A terminal. Texts are made visible here, so nothing that is shown can steer it or hide."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._output = create_output(sys.stdout)
        self._wrapper = LineWrapper()
        self._legible = LegibleStream()
        dumb = is_dumb_terminal()
        self._styled = not dumb and not environ.get("NO_COLOR")
        self._lines = (
            None if dumb else PromptSession[str](key_bindings=_keys(), complete_while_typing=False)
        )
        self._answers = None if dumb else PromptSession[str](complete_while_typing=False)

    def show(self, pieces: Sequence[Piece]) -> None:
        """Write pieces of text as they come; of a word that has not ended, nothing yet."""
        safe = [(style, self._safe(style, text)) for style, text in pieces if text]
        self._write(self._wrapper.feed(safe, self._columns()))

    def say(self, text: str, style: str = "") -> None:
        """Write a line, or several, on lines of their own."""
        self.close_line()
        self.show([(style, f"{text}\n")])

    def table(self, rows: Sequence[tuple[str, str]]) -> None:
        """Write names and what they mean, in two columns however narrow the terminal is."""
        columns = self._columns()
        left = min(max(len(name) for name, _ in rows) + 2, columns // 2)
        for name, about in rows:
            first = f"{name:<{left - 1}} "
            width = max(columns - 1, len(first) + 1)
            lines = wrap(about, width, initial_indent=first, subsequent_indent=" " * left)
            self.write_exact("\n".join(lines))

    def write_exact(self, text: str, style: str = "") -> None:
        """Write lines as they are; where they are too long, the terminal breaks them."""
        self.say(text, f"{EXACT} {style}".strip())

    def note(self, text: str) -> None:
        """Write one line of what happens; line breaks in it are no lines."""
        self.say(f"· {' '.join(text.splitlines())}", NOTE)

    def warn(self, text: str) -> None:
        """Write what the user should not miss."""
        self.say(f"! {text}", WARNING)

    def close_line(self) -> None:
        """End the line that was begun."""
        if not self._wrapper.at_start:
            self.show([("", "\n")])

    def read(self, prompt: str, words: Sequence[str]) -> str:
        """Have the user write a message; Tab completes ``words``.

        Raises ``KeyboardInterrupt``, and ``EOFError`` at Ctrl+D.
        """
        self.close_line()
        if self._lines is None:
            return self._typed(prompt)
        return _clean(self._lines.prompt(prompt, completer=_completer(words)))

    def ask(self, prompt: str, words: Sequence[str] = (), *, password: bool = False) -> str:
        """Have the user answer. What was typed before the question is no answer to it.

        Raises ``KeyboardInterrupt``, and ``EOFError`` at Ctrl+D.
        """
        self.close_line()
        _forget_typed()
        question = self._broken(visible(prompt))
        if password:
            return _clean(getpass(question))
        if self._answers is None:
            return self._typed(question)
        clear_typeahead(self._answers.input)
        return _clean(self._answers.prompt(question, completer=_completer(words)))

    def _safe(self, style: str, text: str) -> str:
        """Return text with hidden characters as codes; of what is shown exactly, all of them."""
        return visible(text) if EXACT in style.split() else self._legible.feed(text)

    def _broken(self, prompt: str) -> str:
        """Return a question with its lines broken between words."""
        wrapper, columns = LineWrapper(), self._columns()
        pieces = [*wrapper.feed([("", prompt)], columns), *wrapper.end(columns)]
        return "".join(text for _, text in pieces)

    def _typed(self, prompt: str) -> str:
        """Read a line as the terminal itself edits it."""
        try:
            return _clean(input(prompt))
        except (KeyboardInterrupt, EOFError):
            self._write([("", "\n")])
            raise

    def _columns(self) -> int:
        return self._output.get_size().columns

    def _write(self, pieces: Sequence[Piece]) -> None:
        if not pieces:
            return
        if self._styled:
            print_formatted_text(FormattedText(pieces), end="", output=self._output)
        else:
            self._output.write("".join(text for _, text in pieces))
        self._output.flush()


def _clean(typed: str) -> str:
    """Return what was typed; bytes that are no text in it are replaced."""
    return typed.encode(errors="surrogateescape").decode(errors="replace")


def _completer(words: Sequence[str]) -> Completer:
    """Return what completes words at Tab, and only then."""
    return WordCompleter(list(words), sentence=True)


def _keys() -> KeyBindings:
    keys = KeyBindings()

    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    bind: Callable[[Callable[[KeyPressEvent], None]], object] = keys.add("escape", "enter")
    bind(new_line)
    return keys


def _forget_typed() -> None:
    """Drop what waits in the terminal's own buffer."""
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        termios.tcflush(sys.stdin, termios.TCIFLUSH)
