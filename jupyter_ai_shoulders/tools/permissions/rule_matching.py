"""Permission rules and the calls they cover; pure functions of values.

Used by ``tools.permissions.rules``, which decides on calls, and by
``tools.permissions.file_format``, which reads rules from the user's file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from jupyter_ai_shoulders.tools.base import Target
from jupyter_ai_shoulders.tools.permissions.command_rules import allow_rule_covers
from jupyter_ai_shoulders.tools.permissions.definitions import definition_covers
from jupyter_ai_shoulders.tools.permissions.grants import normalize_path
from jupyter_ai_shoulders.tools.permissions.known_addresses import comparable_host
from jupyter_ai_shoulders.tools.permissions.patterns import (
    command_matches,
    escape_glob,
    glob_matches,
)

Pattern = Annotated[str, Field(min_length=1)]


class RuleMatch(BaseModel):
    """Restrictions of a rule, as in the file; every given pattern must match."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    path: Pattern | None = None
    """A glob on the path of the call's target."""
    notebook: Pattern | None = None
    """A glob on the path, of notebooks only."""
    command: Pattern | None = None
    """The first words of a command line.

    For allowing rules see ``tools.permissions.command_rules``.
    """
    domain: Pattern | None = None
    """A host, including its subdomains."""
    definition: Pattern | None = None
    """What the tool of an MCP server said of itself when the user allowed it."""


@dataclass(frozen=True, slots=True)
class ToolRule:
    """A rule of the user. A rule with a ``problem`` denies; its ``tool`` is None if unreadable."""

    action: Literal["allow", "ask", "deny"]
    tool: str | None
    match: RuleMatch | None = None
    source: str = "a rule"
    problem: str | None = None


def target_paths(target: Target) -> list[str]:
    """Return the paths a call touches."""
    return [path for path in (target.path, target.new_path) if path is not None]


def rule_matches(rule: ToolRule, tool: str, target: Target) -> bool:
    """Return whether a valid rule covers a call.

    Restricting rules ignore case and are compared with every part of a command line; allowing rules
    need a plain command and the exact case.
    """
    if rule.tool is None or not glob_matches(rule.tool, tool):
        return False
    match = rule.match
    if match is None:
        return True
    allows = rule.action == "allow"
    paths = [normalize_path(path) for path in target_paths(target)] or [None]
    covered = (_covers_path(match, path, exact=allows) for path in paths)
    return (
        (all(covered) if allows else any(covered))
        and (match.command is None or _command_covers(match.command, target, allows=allows))
        and (match.domain is None or _domain_covers(match.domain, target.domain))
        and definition_covers(match.definition, target.definition)
    )


def names_document(rule: ToolRule, target: Target) -> bool:
    """Return whether a matching rule names the target's document itself, not a pattern."""
    path, match = target.path, rule.match
    if path is None or match is None:
        return False
    exact = escape_glob(normalize_path(path))
    return any(
        given is not None and normalize_path(given) == exact
        for given in (match.path, match.notebook)
    )


def _covers_path(match: RuleMatch, path: str | None, *, exact: bool) -> bool:
    notebook = path if path is not None and path.lower().endswith(".ipynb") else None
    return _covers(match.path, path, exact=exact) and _covers(match.notebook, notebook, exact=exact)


def _covers(pattern: str | None, path: str | None, *, exact: bool) -> bool:
    if pattern is None:
        return True
    return path is not None and glob_matches(normalize_path(pattern), path, exact=exact)


def _command_covers(command: str, target: Target, *, allows: bool) -> bool:
    if target.command is None:
        return False
    covers = allow_rule_covers if allows else command_matches
    return covers(command, target.command)


def _domain_covers(domain: str, host: str | None) -> bool:
    wanted = comparable_host(domain.removeprefix("*."))
    found = None if host is None else comparable_host(host)
    return found is not None and (found == wanted or found.endswith(f".{wanted}"))
