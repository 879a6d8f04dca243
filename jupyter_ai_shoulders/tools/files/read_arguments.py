"""The arguments of ``read_file``."""

from __future__ import annotations

from pydantic import Field, model_validator

from jupyter_ai_shoulders.files.word.rendering.outline import MAX_CHARS, OutlineRange
from jupyter_ai_shoulders.tools.base import ToolArguments
from jupyter_ai_shoulders.tools.files.numbered_lines import (
    NumberedLines,
    last_lines,
    numbered_lines,
)


class ReadFileArguments(ToolArguments):
    """Arguments of ``read_file``."""

    path: str = Field(description="Workspace-relative path of a file or folder.")
    start_line: int | None = Field(default=None, ge=1, description="First line to show, from 1.")
    end_line: int | None = Field(default=None, ge=1, description="Last line to show.")
    tail_lines: int | None = Field(
        default=None, ge=1, description="Instead: show so many of the last lines."
    )
    max_chars: int | None = Field(default=None, ge=100, description="Show no more than this.")

    @model_validator(mode="after")
    def _one_range(self) -> ReadFileArguments:
        start, end = self.start_line, self.end_line
        if self.tail_lines is not None and (start is not None or end is not None):
            raise ValueError("give either tail_lines, or start_line and end_line")
        if end is not None and end < (start or 1):
            raise ValueError("end_line is before start_line")
        return self

    @property
    def has_range(self) -> bool:
        """Return whether a range of lines is requested."""
        return (self.start_line, self.end_line, self.tail_lines) != (None, None, None)

    def paragraphs(self) -> OutlineRange:
        """Return the requested paragraphs of a Word document."""
        most = self.max_chars or MAX_CHARS
        return OutlineRange(self.start_line, self.end_line, self.tail_lines, most)

    def lines(self, text: str) -> NumberedLines:
        """Return the requested lines."""
        most = {} if self.max_chars is None else {"most": self.max_chars}
        if self.tail_lines is not None:
            return last_lines(text, self.tail_lines, **most)
        return numbered_lines(text, self.start_line or 1, self.end_line, **most)
