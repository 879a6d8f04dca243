"""Parses and validates ``.shoulders/tools.json`` and the administrator's rules.

Used by ``tools.permissions.store``, which reads and writes the file. An invalid rule denies. An
allowing rule applies only if the user trusts it; other rules and the list of disabled tools always
apply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jupyter_ai_shoulders.core.folder_trust import (
    FolderItem,
    FolderTrust,
    TrustedFolder,
    format_json_for_review,
    is_accepted,
    item_digest,
)
from jupyter_ai_shoulders.tools.base import Target
from jupyter_ai_shoulders.tools.permissions.command_rules import exactness_note, has_command_prefix
from jupyter_ai_shoulders.tools.permissions.rule_matching import RuleMatch, ToolRule, rule_matches
from jupyter_ai_shoulders.tools.permissions.rules import Rules
from jupyter_ai_shoulders.wire.api.commands import RuleExamples
from jupyter_ai_shoulders.wire.api.responses import RuleInfo
from jupyter_ai_shoulders.wire.base import Json, JsonObject

FILE_NAME = ".shoulders/tools.json"
VERSION = 1
_BEFORE_RULE = re.compile(r"[\s,]*(?=[^\s,\]])")


class _StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class _StoredRule(_StrictModel):
    action: Literal["allow", "ask", "deny"]
    tool: str = Field(min_length=1)
    match: RuleMatch | None = None
    examples: RuleExamples | None = None


@dataclass(frozen=True, slots=True)
class Permissions:
    """Parsed file: ``listing`` for display, ``rules`` for ``tools.permissions.rules.decide``."""

    rules: Rules = field(default_factory=Rules)
    listing: tuple[RuleInfo, ...] = ()
    problems: tuple[str, ...] = ()
    revision: str = ""
    """Identifies the version of the file's text that a page has seen."""
    items: tuple[FolderItem, ...] = ()
    """The allowing rules, which need the user's trust."""


def parse_permissions(text: str | None, trust: FolderTrust | None = None) -> Permissions:
    """Parse the file's text. Never raises: errors are listed in ``problems`` and restrict.

    Without ``trust`` the file is the user's own, and all its rules apply.
    """
    if text is None or not text.strip():
        return Permissions()
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        return _broken(f"{FILE_NAME}{line} is not JSON ({error})")
    if not isinstance(content, dict):
        return _broken(f"{FILE_NAME} does not hold a JSON object")
    values = cast("JsonObject", content)
    problem = _unreadable(values)
    if problem is not None:
        return _broken(f"{FILE_NAME}{problem}")
    rules, disabled = values.get("rules", []), values.get("disabled", [])
    checked = _checked(
        cast("list[Json]", rules),
        cast("list[str]", disabled),
        _rule_lines(text),
        trust or TrustedFolder(),
    )
    no_external = values.get("disable_external") is True
    return replace(checked, rules=replace(checked.rules, no_external=no_external))


def _unreadable(values: JsonObject) -> str | None:
    """Return why the file as a whole cannot be read."""
    if values.get("version") != VERSION:
        return f" has version {values.get('version')!r}; this program reads version {VERSION}"
    if not isinstance(values.get("rules", []), list) or not _is_names(values.get("disabled", [])):
        return ': "rules" and "disabled" must be lists'
    if not isinstance(values.get("disable_external", False), bool):
        return ': "disable_external" must be true or false'
    return None


def locked_rules(entries: Sequence[Json]) -> Permissions:
    """Parse the administrator's rules, which deny or ask; an invalid rule denies."""
    rules: list[ToolRule] = []
    listing: list[RuleInfo] = []
    for position, entry in enumerate(entries, start=1):
        source = f"Rule {position} of the administrator"
        rule, problem = parse_rule(entry, source)
        if rule.action == "allow":
            problem = "a rule of the administrator denies or asks"
            rule = ToolRule("deny", rule.tool, None, source, problem)
        rules.append(rule)
        listing.append(rule_listing(entry, problem, None).model_copy(update={"locked": True}))
    problems = tuple(f"{rule.source}: {rule.problem}" for rule in rules if rule.problem)
    return Permissions(Rules(locked=tuple(rules)), tuple(listing), problems)


def _broken(problem: str) -> Permissions:
    return Permissions(rules=Rules(broken=problem), problems=(problem,))


def _is_names(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _checked(
    entries: list[Json], disabled: list[str], lines: list[int], trust: FolderTrust
) -> Permissions:
    rules: list[ToolRule] = []
    listing: list[RuleInfo] = []
    items: list[FolderItem] = []
    for position, entry in enumerate(entries):
        number = lines[position] if position < len(lines) else None
        line = "" if number is None else f", line {number}"
        rule, problem = parse_rule(entry, f"Rule {position + 1} of {FILE_NAME}{line}")
        applies = True
        if rule.action == "allow":
            item = _rule_item(entry, number)
            items.append(item)
            applies = is_accepted(trust, item.digest)
        if applies:
            rules.append(rule)
        shown = rule_listing(entry, problem, number)
        listing.append(shown.model_copy(update={"applies": applies}))
    problems = tuple(f"{rule.source}: {rule.problem}" for rule in rules if rule.problem)
    in_force = Rules(tuple(rules), frozenset(disabled))
    return Permissions(in_force, tuple(listing), problems, items=tuple(items))


def _rule_item(entry: Json, line: int | None) -> FolderItem:
    return FolderItem(
        kind="rule",
        name=_tool_name(entry) or "",
        file=FILE_NAME,
        content=format_json_for_review(entry),
        digest=rule_digest(entry),
        line=line,
    )


def rule_digest(entry: Json) -> str:
    """Return the identity of an allowing rule, independent of its examples."""
    match = entry.get("match") if isinstance(entry, dict) else None
    return item_digest("rule", _tool_name(entry) or "", match)


def parse_rule(entry: Json, source: str) -> tuple[ToolRule, str | None]:
    """Return the rule and its problem, if any; an invalid rule denies."""
    try:
        stored = _StoredRule.model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "the rule"
        problem = f"{place}: {first['msg']}"
        return ToolRule("deny", _tool_name(entry), None, source, problem), problem
    rule = ToolRule(stored.action, stored.tool, stored.match, source)
    problem = _example_problem(rule, stored.examples) if stored.examples else None
    if problem is not None:
        return ToolRule("deny", stored.tool, None, source, problem), problem
    return rule, None


def _tool_name(entry: Json) -> str | None:
    name = entry.get("tool") if isinstance(entry, dict) else None
    return name if isinstance(name, str) and name else None


def _example_problem(rule: ToolRule, examples: RuleExamples) -> str | None:
    for example in examples.match:
        if not _example_matches(rule, example) and not _was_prefix(rule, example):
            return f"its example {example!r} does not match"
    for example in examples.not_match:
        if _example_matches(rule, example):
            return f"its counter-example {example!r} matches"
    return None


def _was_prefix(rule: ToolRule, example: str) -> bool:
    """Return whether an allowing rule covers its example by prefix, as earlier versions compared.

    Such a rule stays valid, with a note that it covers less.
    """
    command = rule.match.command if rule.match else None
    return rule.action == "allow" and command is not None and has_command_prefix(example, command)


def _example_matches(rule: ToolRule, example: str) -> bool:
    match = rule.match or RuleMatch()
    target = Target(
        path=example if match.path or match.notebook else None,
        command=example if match.command else None,
        domain=example if match.domain else None,
    )
    return rule_matches(rule, rule.tool or "", target)


def rule_listing(entry: Json, problem: str | None, line: int | None) -> RuleInfo:
    """Return a rule for display, valid or not."""
    values = entry if isinstance(entry, dict) else {}
    action, match = values.get("action"), values.get("match")
    return RuleInfo(
        action=action if action in ("allow", "ask", "deny") else "deny",
        tool=_tool_name(entry) or "",
        match=match if isinstance(match, dict) else None,
        examples=_shown_examples(values.get("examples")),
        problem=problem,
        line=line,
        locked=False,
        applies=True,
        note=_note(action, match) if problem is None else None,
    )


def _note(action: Json, match: Json) -> str | None:
    if isinstance(match, dict) and "definition" in match:
        return "Covers the tool as you saw it; when its server changes it, it asks again."
    command = match.get("command") if isinstance(match, dict) else None
    if action != "allow" or not isinstance(command, str):
        return None
    return exactness_note(command)


def _shown_examples(value: Json) -> RuleExamples | None:
    try:
        return None if value is None else RuleExamples.model_validate(value)
    except ValidationError:
        return None  # the problem already says so


def _rule_lines(text: str) -> list[int]:
    """Return the line on which each rule begins, as far as the text can be parsed."""
    start = re.search(r'"rules"\s*:\s*\[', text)
    position = start.end() if start else len(text)
    decoder, lines = json.JSONDecoder(), list[int]()
    counted, line = 0, 1
    while gap := _BEFORE_RULE.match(text, position):
        line += text.count("\n", counted, gap.end())
        counted = gap.end()
        lines.append(line)
        _, position = decoder.raw_decode(text, counted)
    return lines
