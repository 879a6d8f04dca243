"""What the permission rules make of calls that move files, and of those that change nothing."""

import pytest

from jupyter_ai_shoulders.tools.base import CallSubject, Target
from jupyter_ai_shoulders.tools.permissions.rule_matching import RuleMatch, ToolRule
from jupyter_ai_shoulders.tools.permissions.rules import (
    Allow,
    Ask,
    Decision,
    Deny,
    PermissionRequest,
    Rules,
    decide,
)
from jupyter_ai_shoulders.wire.sessions import Mode


def moving(path: str, new_path: str) -> PermissionRequest:
    subject = CallSubject(
        title="Move",
        target_label=path,
        target=Target(path=path, new_path=new_path),
        undoable=True,
        moves_or_removes=True,
    )
    return PermissionRequest("move_file", "write", external=False, subject=subject)


def judged(question: PermissionRequest, *rules: ToolRule, mode: Mode = "auto_edit") -> Decision:
    return decide(question, Rules(rules=rules), (), mode=mode, interactive=True)


@pytest.mark.parametrize("mode", ["ask", "auto_edit"])
def test_moving_a_file_asks_though_it_can_be_undone(mode: Mode):
    decision = judged(moving("a.txt", "b.txt"), mode=mode)
    assert isinstance(decision, Ask)
    assert "moves or removes" in decision.reason.text
    assert decision.scopes == ("once", "session")
    assert judged(moving("a.txt", "b.txt"), mode="bypass") == Allow()


def test_moving_a_file_onto_a_protected_name_asks_in_every_mode():
    decision = judged(moving("a.txt", "sub/AGENTS.md"), mode="bypass")
    assert isinstance(decision, Ask)
    assert decision.reason.kind == "protected"


def test_moving_a_file_onto_the_permissions_is_denied():
    assert isinstance(judged(moving("a.txt", ".shoulders/tools.json"), mode="bypass"), Deny)


def test_rule_that_denies_a_folder_denies_moves_into_and_out_of_it():
    rule = ToolRule("deny", "*", RuleMatch(path="data/**"))
    assert isinstance(judged(moving("a.txt", "data/a.txt"), rule, mode="bypass"), Deny)
    assert isinstance(judged(moving("data/a.txt", "a.txt"), rule, mode="bypass"), Deny)


def test_rule_that_allows_a_folder_allows_moves_within_it_only():
    rule = ToolRule("allow", "move_file", RuleMatch(path="data/**"))
    assert isinstance(judged(moving("data/a.txt", "data/b.txt"), rule), Allow)
    assert isinstance(judged(moving("data/a.txt", "b.txt"), rule), Ask)
    assert isinstance(judged(moving("a.txt", "data/b.txt"), rule), Ask)


@pytest.mark.parametrize("path", ["a.txt", "AGENTS.md"])
def test_call_that_only_tells_what_it_would_change_runs_unasked(path: str):
    subject = CallSubject(title="Write", target_label=path, target=Target(path=path), dry_run=True)
    question = PermissionRequest("write_file", "write", external=False, subject=subject)
    assert judged(question, mode="ask") == Allow()
