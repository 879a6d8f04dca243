"""Lets a line magic end with a question mark, which IPython takes for a wish for help.

A transformer of input lines; ``magics.load`` adds it to the shell. ``%ai?`` still shows help.
"""

from __future__ import annotations

import re

_QUESTION = re.compile(r"^(\s*)%ai\s+(\S.*\?)\s*$")


def keep_question_marks(lines: list[str]) -> list[str]:
    """Return the lines with ``%ai … ?`` as the call that it means.

    Not where there are strings over several lines, which may hold such text.
    """
    if any(quotes in line for line in lines for quotes in ('"""', "'''")):
        return lines
    return [_call(line) for line in lines]


def _call(line: str) -> str:
    found = _QUESTION.match(line)
    if found is None:
        return line
    return f"{found[1]}get_ipython().run_line_magic('ai', {found[2]!r})\n"
