"""The terminal of the chat: output and input, by prompt_toolkit. Made by ``chat_command``.

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
    """A terminal. Hidden characters are made visible here, so that no text can control it."""

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
        """Write streamed text; an unfinished word is held back."""
        safe = [(style, self._safe(style, text)) for style, text in pieces if text]
        self._write(self._wrapper.feed(safe, self._columns()))

    def write_lines(self, text: str, style: str = "") -> None:
        """Write one or more whole lines."""
        self.close_line()
        self.show([(style, f"{text}\n")])

    def table(self, rows: Sequence[tuple[str, str]]) -> None:
        """Write names and descriptions in two columns, however narrow the terminal is."""
        columns = self._columns()
        left = min(max(len(name) for name, _ in rows) + 2, columns // 2)
        for name, about in rows:
            first = f"{name:<{left - 1}} "
            width = max(columns - 1, len(first) + 1)
            lines = wrap(about, width, initial_indent=first, subsequent_indent=" " * left)
            self.write_exact("\n".join(lines))

    def write_exact(self, text: str, style: str = "") -> None:
        """Write lines verbatim; the terminal breaks long ones."""
        self.write_lines(text, f"{EXACT} {style}".strip())

    def note(self, text: str) -> None:
        """Write a one-line note; line breaks in it are replaced."""
        self.write_lines(f"· {' '.join(text.splitlines())}", NOTE)

    def warn(self, text: str) -> None:
        """Write a warning."""
        self.write_lines(f"! {text}", WARNING)

    def close_line(self) -> None:
        """End an unfinished line."""
        if not self._wrapper.at_start:
            self.show([("", "\n")])

    def read(self, prompt: str, words: Sequence[str]) -> str:
        """Read a message from the user; Tab completes ``words``.

        Raises ``KeyboardInterrupt``, and ``EOFError`` at Ctrl+D.
        """
        self.close_line()
        if self._lines is None:
            return self._typed(prompt)
        return _clean(self._lines.prompt(prompt, completer=_completer(words)))

    def ask(self, prompt: str, words: Sequence[str] = (), *, password: bool = False) -> str:
        """Read the user's answer; text typed before the question is discarded.

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
        """Return text with hidden characters as codes; in exact text, all of them."""
        return visible(text) if EXACT in style.split() else self._legible.feed(text)

    def _broken(self, prompt: str) -> str:
        """Return a question with its lines broken between words."""
        wrapper, columns = LineWrapper(), self._columns()
        pieces = [*wrapper.feed([("", prompt)], columns), *wrapper.end(columns)]
        return "".join(text for _, text in pieces)

    def _typed(self, prompt: str) -> str:
        """Read a line with the terminal's own editing."""
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
    """Return the input with invalid bytes replaced."""
    return typed.encode(errors="surrogateescape").decode(errors="replace")


def _completer(words: Sequence[str]) -> Completer:
    """Return a completer that completes words at Tab only."""
    return WordCompleter(list(words), sentence=True)


def _keys() -> KeyBindings:
    keys = KeyBindings()

    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    bind: Callable[[Callable[[KeyPressEvent], None]], object] = keys.add("escape", "enter")
    bind(new_line)
    return keys


def _forget_typed() -> None:
    """Discard input in the terminal's own buffer."""
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        termios.tcflush(sys.stdin, termios.TCIFLUSH)
