"""Stores the user's permissions in ``.shoulders/tools.json``.

``PermissionStore`` is created by ``host`` with a file port and read by ``engine.calls.approvals``
and the handler of ``tools/permissions``; ``tools.permissions.file_format`` parses the file.
Example::

    {"version": 1, "disabled": ["git_commit"], "disable_external": false,
     "rules": [{"action": "allow", "tool": "run_command", "match": {"command": "git diff"},
                "examples": {"match": ["git diff HEAD"], "not_match": ["git push"]}}]}
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, cast

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest
from jupyter_ai_shoulders.core.folder_trust import FolderTrust, TrustedFolder
from jupyter_ai_shoulders.tools.permissions.file_format import (
    FILE_NAME,
    VERSION,
    Permissions,
    parse_permissions,
    parse_rule,
    rule_digest,
    rule_listing,
)
from jupyter_ai_shoulders.tools.permissions.patterns import glob_matches
from jupyter_ai_shoulders.tools.permissions.rules import Rules
from jupyter_ai_shoulders.wire.api.commands import PutPermissions, RuleBody
from jupyter_ai_shoulders.wire.api.responses import OffReason, RuleInfo
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.versions import cell_version


class PermissionsFile(Protocol):
    """The text of ``.shoulders/tools.json``."""

    def read(self) -> str | None:
        """Return the text, or None if the file does not exist. Raises ``StateUnavailable``."""
        ...

    def write(self, text: str) -> None:
        """Replace the file atomically. Raises ``StateUnavailable``."""
        ...


def unknown_tools(permissions: Permissions, known: Collection[str]) -> tuple[str, ...]:
    """Describe the entries that name unknown tools, which may be tools of later versions."""
    rules = (*permissions.rules.locked, *permissions.rules.rules)
    named = [
        f"{rule.source} names {rule.tool!r}"
        for rule in rules
        if rule.tool is not None and not any(glob_matches(rule.tool, name) for name in known)
    ]
    gone = sorted(permissions.rules.disabled - set(known))
    named += [f"{FILE_NAME} switches off {name!r}" for name in gone]
    return tuple(f"{text}, but there is no such tool." for text in named)


class PermissionStore:
    """The rules in force, read again when the file changes."""

    def __init__(
        self,
        file: PermissionsFile,
        locked: Permissions | None = None,
        external: Callable[[], Collection[str]] = frozenset[str],
        off: Callable[[], Collection[str]] = frozenset[str],
        *,
        trust: FolderTrust | None = None,
        programs: Callable[[], Collection[str]] = tuple,
    ) -> None:
        """The file is small and the user may edit it, so each access reads it.

        ``locked`` are the administrator's rules. ``external`` returns the tools controlled by the
        switch for external tools, ``off`` the tools disabled by settings. ``trust`` stores the
        user's decisions about rules that came with the folder; without it, the file is the user's
        own. ``programs`` returns the folders of the workspace that contain programs of the running
        server.
        """
        self._file = file
        self._trust: FolderTrust = trust or TrustedFolder()
        self._locked = locked or Permissions()
        self._external = external
        self._off = off
        self._programs = programs
        self._writing = threading.Lock()
        """Protects against a rule being added while a thread replaces the file."""
        self._read: tuple[str | None, object, Permissions] = (None, None, self._joined(None))

    @property
    def permissions(self) -> Permissions:
        """The current file, with the administrator's rules. Raises ``StateUnavailable``."""
        text, answers = self._file.read(), self._trust.revision
        if (text, answers) != self._read[:2]:
            self._read = (text, answers, self._joined(text))
        return self._read[2]

    def _joined(self, text: str | None) -> Permissions:
        stored, locked = parse_permissions(text, self._trust), self._locked
        return Permissions(
            replace(stored.rules, locked=locked.rules.locked, programs=tuple(self._programs())),
            (*locked.listing, *stored.listing),
            (*locked.problems, *stored.problems),
            cell_version(text or ""),
            stored.items,
        )

    @property
    def rules(self) -> Rules:
        """The rules for ``tools.permissions.rules.decide``."""
        return self.permissions.rules

    @property
    def disabled(self) -> frozenset[str]:
        """Names of the tools that are neither offered nor executed."""
        return frozenset(self.switched_off())

    def switched_off(self) -> Mapping[str, OffReason]:
        """Return why each disabled tool is off; settings take precedence over user switches."""
        rules = self.permissions.rules
        off: dict[str, OffReason] = dict.fromkeys(rules.disabled, "disabled")
        if rules.no_external:
            off.update(dict.fromkeys(self._external(), "external"))
        off.update(dict.fromkeys(self._off(), "settings"))
        return off

    @property
    def problems(self) -> tuple[str, ...]:
        """Problems of the file, with line numbers, for the user."""
        return self.permissions.problems

    def listing(self) -> tuple[RuleInfo, ...]:
        """Return the rules as ``GET tools`` shows them."""
        return self.permissions.listing

    def add(self, rule: RuleBody) -> None:
        """Add a rule. Raises ``Conflict`` (unreadable file), ``StateUnavailable``."""
        with self._writing:
            self._add(rule)

    def _add(self, rule: RuleBody) -> None:
        broken = self.permissions.rules.broken
        if broken is not None:
            raise Conflict(
                f"The rule was not saved: {broken}.", hint=f"Correct {FILE_NAME} and try again."
            )
        content = self._content()
        rules = cast("list[Json]", content["rules"])
        entry = _entry(rule)
        self._record([entry])
        if entry not in rules:
            rules.append(entry)
            self._store(content)

    def replace(self, permissions: PutPermissions) -> None:
        """Replace the whole file atomically; blocks, so call it in a thread.

        An existing rule keeps its examples unless new ones are given; a rule that is invalid in the
        file is kept unchanged. Raises ``InvalidRequest`` (bad rule), ``Conflict`` (the file is from
        a newer version, or has changed since the list was made), ``StateUnavailable``.
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
            self._record([rule for rule in rules if _key(rule) not in known])
            content: JsonObject = {
                "version": VERSION,
                "disabled": list(dict.fromkeys(permissions.disabled)),
                "rules": rules,
            }
            if permissions.disable_external:
                content["disable_external"] = True
            self._store(content)

    def _record(self, entries: Sequence[Json]) -> None:
        """Record that the user wrote these rules.

        Called before they are stored, so that after a crash none of the user's rules lacks trust.
        """
        self._trust.record(
            ("rule", str(entry.get("tool")), rule_digest(entry))
            for entry in entries
            if isinstance(entry, dict) and entry.get("action") == "allow"
        )

    def _refuse_newer(self) -> None:
        """Raise ``Conflict`` if a newer version wrote the file: it may have unknown fields."""
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
        """Raise ``Conflict`` if the file has changed since the list was made."""
        if seen is not None and seen != self.permissions.revision:
            raise Conflict(
                "The permissions were changed elsewhere. Your change was not saved.",
                code="stale",
                hint="Check them and repeat the change.",
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


def _entry(rule: RuleBody) -> JsonObject:
    entry: JsonObject = {"action": rule.action, "tool": rule.tool}
    if rule.match is not None:
        entry["match"] = rule.match
    if rule.examples is not None:
        entry["examples"] = rule.examples.model_dump(mode="json")
    return entry


def _refuse_invalid(entry: JsonObject, position: int) -> None:
    _, problem = parse_rule(entry, f"Rule {position}")
    if problem is not None:
        raise InvalidRequest(f"Rule {position} is invalid: {problem}.", rule=position)


def _invalid(stored: Sequence[Json]) -> Mapping[str, Json]:
    """Return the invalid rules of the file, keyed by their displayed form."""
    found: dict[str, Json] = {}
    for entry in stored:
        _, problem = parse_rule(entry, "")
        if problem is not None:
            shown = rule_listing(entry, problem, None)
            body = RuleBody(
                action=shown.action, tool=shown.tool, match=shown.match, examples=shown.examples
            )
            found[json.dumps(_entry(body), sort_keys=True)] = entry
    return found


def _key(entry: Json) -> str:
    """Return the identity of a rule, independent of its examples."""
    values = entry if isinstance(entry, dict) else {}
    return json.dumps([values.get(name) for name in ("action", "tool", "match")], sort_keys=True)
