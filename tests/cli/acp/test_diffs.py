"""Changes as the protocol's diffs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.cli.acp.diffs import changed_text, proposed_changes
from jupyter_ai_shoulders.tools.editing.diff import bounded_diff
from jupyter_ai_shoulders.wire.events import ApprovalRequest
from jupyter_ai_shoulders.wire.results import ToolEnvelope

ROOT = Path("/work space")
LINES = [f"line {number}\n" for number in range(1, 31)]
BEFORE = "".join(LINES)
AFTER = BEFORE.replace("line 2\n", "second\n").replace("line 20\n", "").replace("line 30", "last")


def question(preview: str | None, language: str | None, **arguments: Any) -> ApprovalRequest:
    return ApprovalRequest.model_validate(
        {
            "id": "e",
            "session_id": "s",
            "turn_id": "t",
            "seq": 1,
            "at": "2026-11-21T00:00:00Z",
            "call_id": "c",
            "tool": "edit_file",
            "arguments": arguments,
            "arguments_hash": "",
            "preview": preview,
            "language": language,
            "reason": {"kind": "mode", "text": "This changes a file."},
            "scopes": ["once"],
        }
    )


def test_each_place_of_an_edit_is_a_diff_of_its_lines() -> None:
    found = proposed_changes(question(bounded_diff(BEFORE, AFTER), "diff", path="a.txt"), ROOT)
    assert [each.path for each in found] == ["/work space/a.txt"] * 3
    text = BEFORE
    for each in found:
        assert text.count(each.old_text) == 1
        text = text.replace(each.old_text, each.new_text)
    assert text == AFTER


@pytest.mark.parametrize(
    ("asked", "diffs"),
    [
        (question("new\n", "python", path="a.py", content="new\n"), [(None, "new\n")]),
        (question(bounded_diff("", "a\n"), "diff", path="a"), [(None, "a\n")]),
        (question("print(1)", "python", path="a.ipynb", cell_id="a"), []),
        (question("@@ -1 +1 @@\n-a\n[… 9 lines left out …]\n+b", "diff", path="a"), []),
        (question("@@ -1 +1 @@\n-a\n+b", "diff"), []),
        (question(None, None, path="a"), []),
    ],
    ids=["new file", "empty file", "code", "shortened", "no file", "nothing"],
)
def test_what_is_asked_is_a_diff_if_it_is_the_whole_change(
    asked: ApprovalRequest, diffs: list[tuple[str | None, str]]
) -> None:
    assert [(each.old_text, each.new_text) for each in proposed_changes(asked, ROOT)] == diffs


@pytest.mark.parametrize(
    ("data", "change"),
    [
        ({"path": "a", "before": "1", "after": "2"}, ("/work space/a", "1", "2")),
        ({"path": "a", "before": "", "after": "2"}, ("/work space/a", None, "2")),
        ({"path": "a", "before": "1", "after": "2", "dry_run": True}, None),
        ({"path": "a", "diff": "@@"}, None),
        (None, None),
    ],
    ids=["edit", "new", "dry run", "long", "nothing"],
)
def test_a_change_that_was_made_is_a_diff(data: Any, change: Any) -> None:
    found = changed_text(ToolEnvelope(ok=True, kind="diff", data=data), ROOT)
    shown = None if found is None else (found.path, found.old_text, found.new_text)
    assert shown == change
