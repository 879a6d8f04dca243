"""The user's permission file: what is wrong with it restricts and is said with its line."""

from __future__ import annotations

import json

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest
from jupyter_ai_shoulders.tools.permissions.file_format import parse_permissions
from jupyter_ai_shoulders.tools.permissions.rule_matching import RuleMatch, ToolRule
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.wire.api.commands import RuleBody
from tests.engine.engine_harness import MemoryFile
from tests.tools.permissions.put_request import put_permissions

GOOD = """{
  "version": 1,
  "disabled": ["git_commit"],
  "rules": [
    {"action": "allow", "tool": "run_command", "match": {"command": "git diff"},
     "examples": {"match": ["git diff HEAD"], "not_match": ["git push"]}},
    {"action": "deny", "tool": "delete_*"}
  ]
}"""


def test_file_becomes_rules_with_their_lines():
    permissions = parse_permissions(GOOD)
    assert permissions.problems == ()
    assert permissions.rules.disabled == {"git_commit"}
    assert permissions.rules.rules == (
        ToolRule(
            "allow",
            "run_command",
            RuleMatch(command="git diff"),
            "Rule 1 of .shoulders/tools.json, line 5",
        ),
        ToolRule("deny", "delete_*", None, "Rule 2 of .shoulders/tools.json, line 7"),
    )


@pytest.mark.parametrize("text", [None, "", " \n"], ids=["none", "empty", "blank"])
def test_no_file_is_no_rules(text: str | None):
    permissions = parse_permissions(text)
    assert (permissions.rules.rules, permissions.problems) == ((), ())


BAD_RULES: dict[str, tuple[str, str | None, str]] = {
    "not an object": ('"allow"', None, "valid dictionary"),
    "no tool": ('{"action": "deny"}', None, "tool: Field required"),
    "unknown action": ('{"action": "permit", "tool": "t"}', "t", "action: Input should be"),
    "unknown key": ('{"action": "deny", "tool": "t", "when": 1}', "t", "when: Extra inputs"),
    "unknown pattern": (
        '{"action": "allow", "tool": "t", "match": {"file": "x"}}',
        "t",
        "match.file: Extra inputs",
    ),
    "empty pattern": ('{"action": "allow", "tool": "t", "match": {"path": ""}}', "t", "match.path"),
    "example that fails": (
        '{"action": "allow", "tool": "t", "match": {"path": "a/*"}, "examples": EXAMPLES}'.replace(
            "EXAMPLES", '{"match": ["a/b/c"]}'
        ),
        "t",
        "'a/b/c' does not match",
    ),
    "counter-example that matches": (
        '{"action": "allow", "tool": "t", "match": {"domain": "b.org"}, "examples": NOT}'.replace(
            "NOT", '{"not_match": ["a.b.org"]}'
        ),
        "t",
        "'a.b.org' matches",
    ),
}


@pytest.mark.parametrize(("text", "tool", "said"), BAD_RULES.values(), ids=BAD_RULES.keys())
def test_invalid_rule_denies_and_is_reported_with_its_line(text: str, tool: str | None, said: str):
    permissions = parse_permissions(f'{{"version": 1,\n"rules": [\n\n{text}]}}')
    (rule,) = permissions.rules.rules
    assert (rule.action, rule.tool) == ("deny", tool)
    (problem,) = permissions.problems
    assert said in problem
    assert "line 4" in problem
    assert permissions.listing[0].problem is not None


BROKEN: dict[str, tuple[str, str]] = {
    "not JSON": ('{"version": 1,\n "rules": [}', "line 2"),
    "not an object": ("[]", "JSON object"),
    "newer": ('{"version": 2}', "version 2"),
    "no version": ("{}", "version None"),
    "rules not a list": ('{"version": 1, "rules": {}}', "must be lists"),
    "disabled not names": ('{"version": 1, "disabled": [1]}', "must be lists"),
}


@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN.keys())
def test_file_that_cannot_be_read_is_said(text: str, said: str):
    permissions = parse_permissions(text)
    assert permissions.rules.broken is not None
    assert said in permissions.rules.broken
    assert permissions.problems == (permissions.rules.broken,)


def test_book_reads_the_file_again_when_it_changes():
    file = MemoryFile(GOOD)
    book = PermissionStore(file)
    assert book.disabled == {"git_commit"}
    assert [rule.tool for rule in book.listing()] == ["run_command", "delete_*"]
    file.text = None
    assert book.disabled == frozenset()


def test_added_rule_keeps_what_was_there_and_is_not_added_twice():
    file = MemoryFile(GOOD)
    book = PermissionStore(file)
    rule = RuleBody(action="allow", tool="run_cell", match={"notebook": "a.ipynb"})
    book.add(rule)
    book.add(rule)
    stored = json.loads(file.text or "")
    assert stored["rules"][0] == json.loads(GOOD)["rules"][0]
    assert stored["rules"][2:] == [
        {"action": "allow", "tool": "run_cell", "match": {"notebook": "a.ipynb"}}
    ]
    assert len(book.rules.rules) == 3


def test_rule_is_not_added_to_a_file_that_cannot_be_read():
    file = MemoryFile("{")
    with pytest.raises(Conflict):
        PermissionStore(file).add(RuleBody(action="allow", tool="t"))
    assert file.text == "{"


def test_replacing_checks_every_rule_and_keeps_examples():
    file = MemoryFile(GOOD)
    book = PermissionStore(file)
    kept = RuleBody(action="allow", tool="run_command", match={"command": "git diff"})
    bad = RuleBody(action="allow", tool="t", match={"file": "x"})
    with pytest.raises(InvalidRequest) as raised:
        book.replace(put_permissions(rules=(kept, bad)))
    assert "Rule 2" in str(raised.value)
    assert file.text == GOOD
    book.replace(put_permissions(disabled=("a", "a"), rules=(kept,)))
    stored = json.loads(file.text)
    assert stored["disabled"] == ["a"]
    assert stored["rules"] == json.loads(GOOD)["rules"][:1]


def test_replacing_mends_a_broken_file():
    file = MemoryFile("{")
    book = PermissionStore(file)
    book.replace(put_permissions())
    assert book.problems == ()
