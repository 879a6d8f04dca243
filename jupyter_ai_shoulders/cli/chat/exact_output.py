"""Shows exact lines in the terminal, such as a diff; long ones are cut unless requested in full.

Used by ``user_prompts`` and ``review``.
"""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_ai_shoulders.cli.chat.terminal import TerminalScreen

SHORT_LINE, SHORT_LINES = 400, 40
"""Characters of a line, and lines, that are shown unless the user wants to see all."""
DIFF_STYLES: Mapping[str, str] = {"+": "ansigreen", "-": "ansired", "@": "ansicyan"}
"""By the first character of a line."""


def show_lines(
    screen: TerminalScreen, text: str, styles: Mapping[str, str] = DIFF_STYLES, *, cut: bool
) -> bool:
    """Show a text line by line; return whether all of it was shown."""
    lines = text.rstrip("\n").split("\n") if text else []  # other line breaks stay visible
    shown = [_cut(line) for line in lines[:SHORT_LINES]] if cut else lines
    for line in shown:
        screen.write_exact(f"│ {line}", styles.get(line[:1], ""))
    if len(shown) < len(lines):
        screen.note(f"{len(lines) - len(shown)} more lines")
    return shown == lines


def _cut(line: str) -> str:
    over = len(line) - SHORT_LINE
    return line if over <= 0 else f"{line[:SHORT_LINE]} … {over} more characters"
