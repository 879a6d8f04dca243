"""The user's own MCP servers, ``~/.shoulders/mcp.json``; blocks.

The file has the form of ``.mcp.json``; other fields stay as they are. ``disabledServers`` names
the servers of folders that the user switched off. Used by ``host.mcp_client``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from jupyter_ai_shoulders.core.errors import Conflict, NotFound, StateUnavailable
from jupyter_ai_shoulders.guard.config_files import UnusableFile, read_json_config
from jupyter_ai_shoulders.mcp_client.server_entries import (
    ConfigurationProblem,
    ServerEntry,
    checked_entry,
    parse_servers,
)
from jupyter_ai_shoulders.providers.private_file import replace_private
from jupyter_ai_shoulders.wire.base import Json, JsonObject

FILE = "mcp.json"
SHOWN = "~/.shoulders/mcp.json"
_SERVERS = "mcpServers"
_DISABLED = "disabledServers"


class UserServers:
    """Reads and edits the file."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is ``~/.shoulders``."""
        self._path = folder / FILE
        self._writing = threading.Lock()

    def entries(self) -> tuple[list[ServerEntry], list[ConfigurationProblem]]:
        """Return the usable entries, and what is wrong with the others."""
        try:
            text = self._text()
        except (OSError, UnusableFile) as error:
            return [], [ConfigurationProblem(SHOWN, f"The file cannot be read: {error}")]
        return ([], []) if text is None else parse_servers(text, SHOWN, "user")

    def disabled(self) -> frozenset[str]:
        """Return the names of servers that were switched off by name."""
        try:
            named = self._content().get(_DISABLED)
        except (OSError, Conflict):
            return frozenset()
        return frozenset(map(str, _list(named)))

    def put(self, name: str, fields: JsonObject) -> None:
        """Add or change an entry; fields that are null are removed, others stay.

        Raises ``InvalidRequest``, ``Conflict`` (the file is not valid), ``StateUnavailable``.
        """

        def change(content: dict[str, Any]) -> None:
            servers = content.setdefault(_SERVERS, {})
            entry: dict[str, Json] = {**_object(servers.get(name)), **fields}
            entry = {key: value for key, value in entry.items() if value is not None}
            checked_entry(name, entry, "user")
            servers[name] = entry

        self._edit(change)

    def remove(self, name: str) -> None:
        """Remove an entry. Raises ``NotFound``, ``Conflict``, ``StateUnavailable``."""

        def change(content: dict[str, Any]) -> None:
            if name not in _object(content.get(_SERVERS)):
                raise NotFound(f"There is no MCP server {name!r} in {SHOWN}.")
            del content[_SERVERS][name]

        self._edit(change)

    def set_enabled(self, name: str, *, enabled: bool) -> None:
        """Switch one of the user's entries. Raises ``NotFound``, ``Conflict``, …."""

        def change(content: dict[str, Any]) -> None:
            entry = _object(content.get(_SERVERS)).get(name)
            if not isinstance(entry, dict):
                raise NotFound(f"There is no MCP server {name!r} in {SHOWN}.")
            fields = cast("dict[str, Any]", entry)
            fields.pop("disabled", None)
            if not enabled:
                fields["disabled"] = True

        self._edit(change)

    def set_disabled_name(self, name: str, *, disabled: bool) -> None:
        """Switch a server of a folder by its name. Raises ``Conflict``, ``StateUnavailable``."""

        def change(content: dict[str, Any]) -> None:
            named = content.get(_DISABLED)
            others = [other for other in _list(named) if other != name]
            content[_DISABLED] = [*others, name] if disabled else others
            if not content[_DISABLED]:
                del content[_DISABLED]

        self._edit(change)

    def _edit(self, change: Callable[[dict[str, Any]], None]) -> None:
        with self._writing:
            try:
                content = self._content()
                if not isinstance(content.get(_SERVERS, {}), dict):
                    raise _not_valid("“mcpServers” is not an object")
                change(content)
                replace_private(
                    self._path, json.dumps(content, indent=2, ensure_ascii=False) + "\n"
                )
            except OSError as error:
                raise StateUnavailable(
                    f"{SHOWN} cannot be changed ({error}).", hint="Make the file writable."
                ) from error

    def _content(self) -> dict[str, Any]:
        text = self._text()
        if text is None or not text.strip():
            return {}
        try:
            content: object = json.loads(text)
        except json.JSONDecodeError as error:
            raise _not_valid(f"line {error.lineno}: {error.msg}") from error
        except (ValueError, RecursionError) as error:
            raise _not_valid(str(error)) from error
        if not isinstance(content, dict):
            raise _not_valid("it is not an object")
        return cast("dict[str, Any]", content)

    def _text(self) -> str | None:
        try:
            return read_json_config(self._path).decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError):
            return None


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _not_valid(what: str) -> Conflict:
    return Conflict(
        f"{SHOWN} is not valid ({what}). Nothing was changed.",
        hint="Correct the file, or move it away.",
    )
