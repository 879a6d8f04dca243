"""What no longer holds once the agent has read a stranger's text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jupyter_ai_shoulders.tools.base import CallSubject, Target
from jupyter_ai_shoulders.tools.permissions.grants import Grant
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
from jupyter_ai_shoulders.tools.permissions.taint import TaintSource, taint_source, taint_warning
from jupyter_ai_shoulders.wire.events import Risk
from jupyter_ai_shoulders.wire.sessions import Mode

PAGE = TaintSource("example.org")
NOTEBOOK = TaintSource("a.ipynb", "a.ipynb")
ALWAYS = Rules(rules=(ToolRule("allow", "*", source="rule 1"),))


def question(
    risk: Risk,
    *sources: TaintSource,
    tool: str = "run_cell",
    external: bool = False,
    in_page: bool = False,
    **target: str,
) -> PermissionRequest:
    values: dict[str, Any] = target or {"path": "a.ipynb"}
    subject = CallSubject("", None, Target(**values), undoable=True, in_page=in_page)
    return PermissionRequest(tool, risk, external, subject, sources)


def judged(
    asked: PermissionRequest,
    rules: Rules = ALWAYS,
    *grants: Grant,
    mode: Mode = "ask",
    someone: bool = True,
) -> Decision:
    return decide(asked, rules, grants, mode=mode, interactive=someone)


@pytest.mark.parametrize(
    ("asked", "suspended"),
    [
        (question("read", PAGE), False),
        (question("write", PAGE, in_page=True), False),
        (question("write", PAGE), True),
        (question("execute", PAGE), True),
        (question("execute", PAGE, in_page=True), True),
        (question("read", PAGE, external=True, domain="example.org"), True),
    ],
)
@pytest.mark.parametrize("mode", ["ask", "auto_edit", "bypass"])
def test_stored_rules_and_bypass_are_suspended(
    asked: PermissionRequest, suspended: bool, mode: Mode
):
    decision = judged(asked, mode=mode)
    if not suspended or (mode == "auto_edit" and asked.risk == "write"):  # the mode alone allows it
        assert isinstance(decision, Allow)
        return
    assert isinstance(decision, Ask)
    assert decision.reason.kind == "taint"
    assert "example.org" in decision.reason.text
    assert "always" not in decision.scopes
    clean = question(asked.risk, external=asked.external, in_page=asked.subject.in_page)
    assert isinstance(judged(clean, mode=mode), Allow)


def test_bypass_without_rules_is_suspended_too():
    decision = judged(question("execute", PAGE), Rules(), mode="bypass")
    assert isinstance(decision, Ask)
    assert "this mode never asks" in decision.reason.text


def test_what_would_ask_anyway_says_where_the_text_came_from_and_is_not_stored_for_ever():
    decision = judged(question("execute", PAGE), Rules())
    assert isinstance(decision, Ask)
    assert decision.reason.kind == "mode"
    assert "runs code" in decision.reason.text
    assert "example.org" in decision.reason.text
    assert decision.scopes == ("once", "document", "session")


def test_what_asks_in_a_document_may_be_allowed_always_in_spite_of_what_it_holds():
    """The rule that is stored names the document."""
    decision = judged(question("execute", NOTEBOOK), Rules())
    assert isinstance(decision, Ask)
    assert "always" in decision.scopes
    assert "a.ipynb" not in decision.reason.text


def test_edits_that_the_mode_lets_wait_for_review_still_run():
    assert isinstance(judged(question("write", PAGE), Rules(), mode="auto_edit"), Allow)


def test_a_rule_that_names_a_document_vouches_for_its_text():
    own = TaintSource("a.ipynb", "a.ipynb")
    match = RuleMatch(notebook="a.ipynb")
    named = Rules(rules=(ToolRule("allow", "run_cell", match, source="rule 1"),))
    assert isinstance(judged(question("execute", own), named), Allow)
    assert isinstance(judged(question("execute", own, PAGE), named), Ask)
    assert isinstance(
        judged(question("execute", own), Rules(), Grant("run_cell", "a.ipynb")), Allow
    )


@pytest.mark.parametrize("match", [None, RuleMatch(path="*"), RuleMatch(notebook="**/*.ipynb")])
def test_a_rule_for_many_documents_vouches_for_none(match: RuleMatch | None):
    own = TaintSource("a.ipynb", "a.ipynb")
    wide = Rules(rules=(ToolRule("allow", "run_cell", match, source="rule 1"),))
    assert isinstance(judged(question("execute", own), wide), Ask)
    assert isinstance(judged(question("execute", own), Rules(), Grant("run_cell")), Ask)
    assert isinstance(judged(question("execute", own), Rules(), mode="bypass"), Ask)


def test_a_grant_holds_when_the_user_had_been_told():
    asked = question("execute", PAGE)
    assert isinstance(judged(asked, ALWAYS, Grant("run_cell")), Ask)
    assert isinstance(judged(asked, ALWAYS, Grant("run_cell", informed=True)), Allow)


def test_an_informed_grant_stands_below_denials():
    denies = Rules(rules=(ToolRule("deny", "run_cell", RuleMatch(path="*"), source="rule 1"),))
    assert isinstance(
        judged(question("execute", PAGE), denies, Grant("run_cell", informed=True)), Deny
    )


def test_nobody_there_to_ask_is_a_refusal_that_names_the_source():
    decision = judged(question("execute", PAGE), someone=False)
    assert isinstance(decision, Deny)
    assert "example.org" in decision.text


@pytest.mark.parametrize(
    ("tool", "target", "expected"),
    [
        ("read_file", Target(path="notes.md"), TaintSource("notes.md", "notes.md")),
        *(
            (tool, Target(path="a.ipynb"), NOTEBOOK)
            for tool in (
                *("read_notebook", "read_cell_output", "search_notebook", "inspect_variables"),
                *("run_cell", "run_all_cells", "run_code", "verify_notebook"),
            )
        ),
        ("undo_file_change", Target(path="notes.md"), TaintSource("notes.md", "notes.md")),
        *(
            (tool, Target(), TaintSource("open.md", "open.md"))
            for tool in ("read_document", "search_document", "get_document_info")
        ),
        ("run_command", Target(command="cat  x\n"), TaintSource("the output of 'cat x'")),
        ("search_content", Target(path="notes"), TaintSource("a search of the workspace")),
        ("semantic_search", Target(path="notes"), TaintSource("a search of the workspace")),
        ("git_diff", Target(path="notes.md"), TaintSource("a diff of git")),
        ("search_notebook", Target(), TaintSource("a search of the notebooks")),
        ("read_tasks", Target(path="open.md"), TaintSource("answers in tasks")),
        ("list_kernels", Target(), TaintSource("names of kernels")),
        ("some_new_tool", Target(), TaintSource("what some_new_tool answered")),
        ("edit_cell", Target(path="other.ipynb"), None),
        ("todo", Target(), None),
    ],
)
def test_source_of_a_result(tool: str, target: Target, expected: TaintSource | None):
    assert taint_source(tool, target, document="open.md") == expected


def test_whatever_comes_from_outside_is_a_strangers():
    assert taint_source("fetch_url", Target(domain="example.org"), external=True) == PAGE
    unnamed = taint_source("web_search", Target(), external=True)
    assert unnamed == TaintSource("what web_search answered")
    assert taint_source("edit_cell", Target(path="a.ipynb"), foreign=True) == NOTEBOOK


def test_a_document_in_front_of_the_person_is_theirs_to_vouch_for_in_this_conversation():
    """An answer, or the mode, holds for what the open document holds; a stored rule does not."""
    shown = question("execute", NOTEBOOK, in_page=True)
    assert isinstance(judged(shown, Rules(), Grant("run_cell")), Allow)
    assert isinstance(judged(shown, Rules(), mode="bypass"), Allow)
    assert isinstance(judged(shown, ALWAYS), Ask)
    written_about = replace(question("execute", NOTEBOOK), open_documents={"a.ipynb"})
    assert isinstance(judged(written_about, Rules(), mode="bypass"), Allow)
    assert isinstance(judged(written_about, ALWAYS), Ask)
    other = question("execute", NOTEBOOK, PAGE, in_page=True)
    assert isinstance(judged(other, Rules(), Grant("run_cell")), Ask)
    assert isinstance(judged(other, Rules(), mode="bypass"), Ask)


def test_long_commands_and_many_sources_are_shortened():
    source = taint_source("run_command", Target(command="x" * 500))
    assert source is not None
    assert len(source.label) < 150
    many = taint_warning([TaintSource(f"s{number}") for number in range(5)])
    assert many.endswith("s0, s1, s2 and 2 more.")
