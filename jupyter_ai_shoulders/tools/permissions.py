"""The user's permissions, ``.shoulders/tools.json``: parsing, checking and adding rules.

``RuleBook`` is made by ``host`` with a file port; read by ``engine.approvals`` and the handler of
``tools/permissions``. The file::

    {"version": 1, "disabled": ["git_commit"], "disable_external": false,
     "rules": [{"action": "allow", "tool": "run_command", "match": {"command": "git diff"},
                "examples": {"match": ["git diff HEAD"], "not_match": ["git push"]}}]}
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest
from jupyter_ai_shoulders.tools.base import CallSubject, Target
from jupyter_ai_shoulders.tools.patterns import glob_matches
from jupyter_ai_shoulders.tools.rules import Question, RuleMatch, Rules, ToolRule, rule_matches
from jupyter_ai_shoulders.wire.api import OffReason, Rule
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.commands import PutPermissions, RuleBody, RuleExamples
from jupyter_ai_shoulders.wire.versions import cell_version

FILE_NAME = ".shoulders/tools.json"
VERSION = 1


class PermissionsFile(Protocol):
    """The text of ``.shoulders/tools.json``."""

    def read(self) -> str | None:
        """Return the text, or None when there is no file. Raises ``StateUnavailable``."""
        ...

    def write(self, text: str) -> None:
        """Replace the file atomically. Raises ``StateUnavailable``."""
        ...


class _StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class _StoredRule(_StrictModel):
    action: Literal["allow", "ask", "deny"]
    tool: str = Field(min_length=1)
    match: RuleMatch | None = None
    examples: RuleExamples | None = None


@dataclass(frozen=True, slots=True)
class Permissions:
    """The file, read: ``listing`` for people, ``rules`` for ``tools.rules.decide``."""

    rules: Rules = field(default_factory=Rules)
    listing: tuple[Rule, ...] = ()
    problems: tuple[str, ...] = ()
    revision: str = ""
    """Names the file's text: what a page has seen of it."""


def parse_permissions(text: str | None) -> Permissions:
    """Read the file's text. Never raises: what is wrong is in ``problems`` and restricts."""
    if text is None or not text.strip():
        return Permissions()
    try:
        content: Any = json.loads(text)
    except ValueError as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        return _broken(f"{FILE_NAME}{line} is not JSON ({error})")
    if not isinstance(content, dict):
        return _broken(f"{FILE_NAME} does not hold a JSON object")
    values = cast("JsonObject", content)
    problem = _unreadable(values)
    if problem is not None:
        return _broken(f"{FILE_NAME}{problem}")
    rules, disabled = values.get("rules", []), values.get("disabled", [])
    checked = _checked(cast("list[Json]", rules), cast("list[str]", disabled), _rule_lines(text))
    no_external = values.get("disable_external") is True
    return replace(checked, rules=replace(checked.rules, no_external=no_external))


def _unreadable(values: JsonObject) -> str | None:
    """Return what is wrong with the file as a whole."""
    if values.get("version") != VERSION:
        return f" has version {values.get('version')!r}; this program reads version {VERSION}"
    if not isinstance(values.get("rules", []), list) or not _is_names(values.get("disabled", [])):
        return ': "rules" and "disabled" must be lists'
    if not isinstance(values.get("disable_external", False), bool):
        return ': "disable_external" must be true or false'
    return None


def locked_rules(entries: Sequence[Json]) -> Permissions:
    """Read the administrator's rules. They deny or ask; one that is invalid denies."""
    rules: list[ToolRule] = []
    listing: list[Rule] = []
    for position, entry in enumerate(entries, start=1):
        source = f"Rule {position} of the administrator"
        rule, problem = _read_rule(entry, source)
        if rule.action == "allow":
            problem = "a rule of the administrator denies or asks"
            rule = ToolRule("deny", rule.tool, None, source, problem)
        rules.append(rule)
        listing.append(_shown(entry, problem, None).model_copy(update={"locked": True}))
    problems = tuple(f"{rule.source}: {rule.problem}" for rule in rules if rule.problem)
    return Permissions(Rules(locked=tuple(rules)), tuple(listing), problems)


def unknown_tools(permissions: Permissions, known: Collection[str]) -> tuple[str, ...]:
    """Return, in words, what names a tool that there is not; later versions may have it."""
    rules = (*permissions.rules.locked, *permissions.rules.rules)
    named = [
        f"{rule.source} names {rule.tool!r}"
        for rule in rules
        if rule.tool is not None and not any(glob_matches(rule.tool, name) for name in known)
    ]
    gone = sorted(permissions.rules.disabled - set(known))
    named += [f"{FILE_NAME} switches off {name!r}" for name in gone]
    return tuple(f"{text}, but there is no such tool." for text in named)


class RuleBook:
    """The rules in force, read again when the file changes."""

    def __init__(
        self,
        file: PermissionsFile,
        locked: Permissions | None = None,
        external: Callable[[], Collection[str]] = frozenset[str],
        off: Callable[[], Collection[str]] = frozenset[str],
    ) -> None:
        """Read through ``file``, each time anew: it is small, and the user may edit it.

        ``locked`` are the administrator's rules, ``external`` names the tools that one switch
        turns off, ``off`` those that the settings have off.
        """
        self._file = file
        self._locked = locked or Permissions()
        self._external = external
        self._off = off
        self._writing = threading.Lock()
        """A rule may be added while the whole file is replaced in a thread."""
        self._read: tuple[str | None, Permissions] = (None, self._joined(None))

    @property
    def permissions(self) -> Permissions:
        """The file as it is now, with the administrator's rules. Raises ``StateUnavailable``."""
        text = self._file.read()
        if text != self._read[0]:
            self._read = (text, self._joined(text))
        return self._read[1]

    def _joined(self, text: str | None) -> Permissions:
        stored, locked = parse_permissions(text), self._locked
        return Permissions(
            replace(stored.rules, locked=locked.rules.locked),
            (*locked.listing, *stored.listing),
            (*locked.problems, *stored.problems),
            cell_version(text or ""),
        )

    @property
    def rules(self) -> Rules:
        """What ``tools.rules.decide`` goes by."""
        return self.permissions.rules

    @property
    def disabled(self) -> frozenset[str]:
        """Names of the tools that are neither offered nor executed."""
        return frozenset(self.off())

    def off(self) -> Mapping[str, OffReason]:
        """Return why each tool that is off is off; the settings stand above the user's switches."""
        rules = self.permissions.rules
        off: dict[str, OffReason] = dict.fromkeys(rules.disabled, "disabled")
        if rules.no_external:
            off.update(dict.fromkeys(self._external(), "external"))
        off.update(dict.fromkeys(self._off(), "settings"))
        return off

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the file, with lines, in words for the user."""
        return self.permissions.problems

    def listing(self) -> tuple[Rule, ...]:
        """Return the rules as ``GET tools`` shows them."""
        return self.permissions.listing

    def add(self, rule: RuleBody) -> None:
        """Store one more rule. Raises ``Conflict`` (unreadable file), ``StateUnavailable``."""
        with self._writing:
            self._add(rule)

    def _add(self, rule: RuleBody) -> None:
        broken = self.permissions.rules.broken
        if broken is not None:
            raise Conflict(
                f"The rule was not stored: {broken}.", hint=f"Correct {FILE_NAME} and try again."
            )
        content = self._content()
        rules = cast("list[Json]", content["rules"])
        entry = _entry(rule)
        if entry not in rules:
            rules.append(entry)
            self._store(content)

    def replace(self, permissions: PutPermissions) -> None:
        """Store the whole file, atomically; it blocks, for threads.

        A rule that was there before keeps its examples, unless it brings others; one that is
        invalid in the file stays as it stands there. Raises
        ``InvalidRequest`` (bad rule), ``Conflict`` (the file is of a newer version, and stays; or
        it is not the one the list was made from), ``StateUnavailable``.
        """
        with self._writing:
            self._refuse_newer()
            self._refuse_stale(permissions.revision)
            stored = self._stored_rules()
            invalid = _invalid(stored)
            known = {_key(rule): rule for rule in stored}
            rules: list[Json] = []
            for position, entry in enumerate(map(_entry, permissions.rules), start=1):
                kept = invalid.get(json.dumps(entry, sort_keys=True))
                if kept is None:
                    _refuse_invalid(entry, position)
                    kept = entry if "examples" in entry else known.get(_key(entry), entry)
                rules.append(kept)
            content: JsonObject = {
                "version": VERSION,
                "disabled": list(dict.fromkeys(permissions.disabled)),
                "rules": rules,
            }
            if permissions.disable_external:
                content["disable_external"] = True
            self._store(content)

    def _refuse_newer(self) -> None:
        """Raise ``Conflict`` when a newer version wrote the file: it may say more than we read."""
        try:
            content: Any = json.loads(self._file.read() or "{}")
        except ValueError:
            return
        version = cast("JsonObject", content).get("version") if isinstance(content, dict) else None
        if isinstance(version, int) and version > VERSION:
            raise Conflict(
                f"{FILE_NAME} was written by a newer version (version {version}); it was kept.",
                hint="Upgrade jupyter-ai-shoulders, or move the file away.",
            )

    def _refuse_stale(self, seen: str | None) -> None:
        """Raise ``Conflict`` when the list was made from another file than there is now."""
        if seen is not None and seen != self.permissions.revision:
            raise Conflict(
                "The permissions were changed elsewhere meanwhile; nothing was stored.",
                code="stale",
                hint="Look at them again and repeat the change.",
            )

    def _stored_rules(self) -> list[Json]:
        if self.permissions.rules.broken is not None:
            return []
        return cast("list[Json]", self._content()["rules"])

    def _content(self) -> JsonObject:
        empty: JsonObject = {"version": VERSION, "disabled": [], "rules": []}
        text = self._file.read()
        stored = cast("JsonObject", json.loads(text)) if text and text.strip() else {}
        return {**empty, **stored}

    def _store(self, content: JsonObject) -> None:
        self._file.write(json.dumps(content, ensure_ascii=False, indent=2) + "\n")


def _broken(problem: str) -> Permissions:
    return Permissions(rules=Rules(broken=problem), problems=(problem,))


def _is_names(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _checked(entries: list[Json], disabled: list[str], lines: list[int]) -> Permissions:
    rules: list[ToolRule] = []
    listing: list[Rule] = []
    for position, entry in enumerate(entries):
        line = f", line {lines[position]}" if position < len(lines) else ""
        rule, problem = _read_rule(entry, f"Rule {position + 1} of {FILE_NAME}{line}")
        rules.append(rule)
        number = lines[position] if position < len(lines) else None
        listing.append(_shown(entry, problem, number))
    problems = tuple(f"{rule.source}: {rule.problem}" for rule in rules if rule.problem)
    return Permissions(Rules(tuple(rules), frozenset(disabled)), tuple(listing), problems)


def _read_rule(entry: Json, source: str) -> tuple[ToolRule, str | None]:
    """Return the rule, and what is wrong with it: an invalid rule denies."""
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
        if not _example_matches(rule, example):
            return f"its example {example!r} does not match"
    for example in examples.not_match:
        if _example_matches(rule, example):
            return f"its counter-example {example!r} matches"
    return None


def _example_matches(rule: ToolRule, example: str) -> bool:
    match = rule.match or RuleMatch()
    target = Target(
        path=example if match.path or match.notebook else None,
        command=example if match.command else None,
        domain=example if match.domain else None,
    )
    subject = CallSubject(title="", target_label=None, target=target)
    return rule_matches(rule, Question(rule.tool or "", "execute", False, subject))


def _shown(entry: Json, problem: str | None, line: int | None) -> Rule:
    values = entry if isinstance(entry, dict) else {}
    action, match = values.get("action"), values.get("match")
    return Rule(
        action=action if action in ("allow", "ask", "deny") else "deny",
        tool=_tool_name(entry) or "",
        match=match if isinstance(match, dict) else None,
        examples=_shown_examples(values.get("examples")),
        problem=problem,
        line=line,
        locked=False,
    )


def _shown_examples(value: Json) -> RuleExamples | None:
    try:
        return None if value is None else RuleExamples.model_validate(value)
    except ValidationError:
        return None  # the rule's problem says so


def _entry(rule: RuleBody) -> JsonObject:
    entry: JsonObject = {"action": rule.action, "tool": rule.tool}
    if rule.match is not None:
        entry["match"] = rule.match
    if rule.examples is not None:
        entry["examples"] = rule.examples.model_dump(mode="json")
    return entry


def _refuse_invalid(entry: JsonObject, position: int) -> None:
    _, problem = _read_rule(entry, f"Rule {position}")
    if problem is not None:
        raise InvalidRequest(f"Rule {position} is invalid: {problem}.", rule=position)


def _invalid(stored: Sequence[Json]) -> Mapping[str, Json]:
    """Return the rules of the file that are invalid, by what a page is shown of each."""
    found: dict[str, Json] = {}
    for entry in stored:
        _, problem = _read_rule(entry, "")
        if problem is not None:
            shown = _shown(entry, problem, None)
            body = RuleBody(
                action=shown.action, tool=shown.tool, match=shown.match, examples=shown.examples
            )
            found[json.dumps(_entry(body), sort_keys=True)] = entry
    return found


def _key(entry: Json) -> str:
    """Return what makes two rules the same, whatever examples they carry."""
    values = entry if isinstance(entry, dict) else {}
    return json.dumps([values.get(name) for name in ("action", "tool", "match")], sort_keys=True)


def _rule_lines(text: str) -> list[int]:
    """Return the line each rule begins on, as far as the text can be followed."""
    start = re.search(r'"rules"\s*:\s*\[', text)
    position = start.end() if start else len(text)
    decoder, lines = json.JSONDecoder(), list[int]()
    while gap := re.compile(r"[\s,]*(?=[^\s,\]])").match(text, position):
        position = gap.end()
        lines.append(text.count("\n", 0, position) + 1)
        _, position = decoder.raw_decode(text, position)
    return lines
