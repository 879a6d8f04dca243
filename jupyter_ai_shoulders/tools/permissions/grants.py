"""Grants: what an approval allows for a document, for the session, or always.

``engine.loop.event_reducer`` creates grants from answers in the log,
``engine.session.user_responses`` the stored rule for "always"; ``tools.permissions.rules`` applies
both.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import assert_never

from jupyter_ai_shoulders.tools.base import Target
from jupyter_ai_shoulders.tools.mcp.names import is_server_tool
from jupyter_ai_shoulders.tools.permissions.command_rules import allow_rule_covers, command_reach
from jupyter_ai_shoulders.tools.permissions.definitions import definition_covers
from jupyter_ai_shoulders.tools.permissions.known_addresses import address_host
from jupyter_ai_shoulders.tools.permissions.patterns import escape_glob
from jupyter_ai_shoulders.wire.api.commands import RuleBody
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import ApprovalScope
from jupyter_ai_shoulders.wire.ids import ModelId, SessionId


@dataclass(frozen=True, slots=True)
class Grant:
    """Permission for the rest of the session: for a tool, optionally limited to one target."""

    tool: str
    path: str | None = None
    command: str | None = None
    domain: str | None = None
    definition: str | None = None
    """The tool's definition when it was allowed; a changed one asks again."""
    informed: bool = False
    """Whether the approval warned of text the user may not have written."""


PlannedGrants = Callable[[SessionId, ModelId], Sequence[Grant]]
"""Returns the grants of a turn that a plan of the person leads, by session and model."""


def no_planned_grants(session_id: SessionId, model: ModelId) -> Sequence[Grant]:
    """Return none."""
    del session_id, model
    return ()


def narrowest_rule(tool: str, target: Target) -> RuleBody:
    """Return the rule that "always" stores: this tool, for this notebook, file, command or host.

    A command that no rule can cover is stored unchanged; that rule covers nothing.
    """
    match: JsonObject | None = None
    if target.path is not None:
        key = "notebook" if target.path.endswith(".ipynb") else "path"
        match = {key: escape_glob(normalize_path(target.path))}
    elif target.command is not None:
        reach = command_reach(target.command)
        match = {"command": reach.command if reach else target.command}
    elif target.domain is not None:
        match = {"domain": target.domain}
    elif target.definition is not None:
        match = {"definition": target.definition}
    return RuleBody(action="allow", tool=tool, match=match)


def grant_for(
    scope: ApprovalScope,
    tool: str,
    arguments: JsonObject,
    *,
    informed: bool = False,
    definition: str | None = None,
) -> Grant | None:
    """Return the grant that an answer with this scope gives, from the call's arguments.

    Argument names are part of the contract, so the log alone is enough. "Once" grants nothing;
    "always" stores a rule instead (see ``narrowest_rule``).
    """
    target = target_of(arguments, tool)
    match scope:
        case "once" | "always":
            return None
        case "document":
            if target.path is None:
                return None
            return Grant(tool, path=target.path, informed=informed)
        case "session":
            if target.command is None:
                return Grant(tool, domain=target.domain, definition=definition, informed=informed)
            reach = command_reach(target.command)
            return reach and Grant(tool, command=reach.command, informed=informed)
        case _:
            assert_never(scope)


def grant_covers(grant: Grant, target: Target) -> bool:
    """Return whether a grant covers this target of its tool."""
    if not definition_covers(grant.definition, target.definition):
        return False
    if grant.path is not None:
        return target.path is not None and normalize_path(target.path) == grant.path
    if grant.command is not None:
        return target.command is not None and allow_rule_covers(grant.command, target.command)
    return grant.domain is None or target.domain == grant.domain


def target_of(arguments: JsonObject, tool: str = "") -> Target:
    """Return the target named by a call's arguments; those of MCP servers name what they like."""
    if is_server_tool(tool):
        return Target()
    path, new_path, command, url = (
        arguments.get(name) for name in ("path", "new_path", "command", "url")
    )
    return Target(
        path=normalize_path(path) if isinstance(path, str) else None,
        new_path=normalize_path(new_path) if isinstance(new_path, str) else None,
        command=command if isinstance(command, str) else None,
        domain=address_host(url) if isinstance(url, str) else None,
    )


def normalize_path(path: str) -> str:
    """Return a path in the spelling that rules and grants compare."""
    return posixpath.normpath(path.replace("\\", "/"))
