"""Changes of texts as the protocol's diffs, which editors show in their own way.

Used by ``cli.acp.updates`` for what was changed, by ``cli.acp.approvals`` for what would be.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acp import helpers

from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.results import ToolEnvelope


def changed_text(envelope: ToolEnvelope, workspace: Path) -> Any | None:
    """Return the change that a call has made, None if it has made none or a long one."""
    match envelope.data if envelope.ok and envelope.kind == "diff" else None:
        case {"dry_run": True}:
            return None
        case {"path": str(path), "before": str(before), "after": str(after)}:
            file = str(workspace / path)
            return helpers.tool_diff_content(file, after, before or None)
        case _:
            return None


def proposed_changes(question: ev.ApprovalRequest, workspace: Path) -> list[Any]:
    """Return the changes that a question asks about, one for each place of the text.

    Empty for other questions, and for changes too long to be shown whole.
    """
    path, preview = question.arguments.get("path"), question.preview
    if not isinstance(path, str) or not preview:
        return []
    file = str(workspace / path)
    if preview == question.arguments.get("content"):
        return [helpers.tool_diff_content(file, preview, None)]
    if question.language != "diff" or not preview.startswith("@@ "):
        return []
    lines = preview.split("\n")
    if any(line[:1] not in {"@", " ", "-", "+"} for line in lines):
        return []
    return [
        helpers.tool_diff_content(file, _side(hunk, "+"), _side(hunk, "-") or None)
        for hunk in _hunks(lines)
    ]


def _hunks(lines: list[str]) -> Iterator[list[str]]:
    starts = [at for at, line in enumerate(lines) if line.startswith("@@ ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield lines[start + 1 : end]


def _side(hunk: list[str], sign: str) -> str:
    """Return the lines of a hunk before (``-``) or after (``+``) the change."""
    return "".join(f"{line[1:]}\n" for line in hunk if line[:1] in {" ", sign})
