"""Entries of ``mcpServers`` in the forms other clients write, and the values they name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.mcp_client.server_entries import (
    MissingValue,
    checked_entry,
    missing_values,
    parse_servers,
    parse_trait,
    with_values,
)
from jupyter_ai_shoulders.wire.base import Json

FORMS: dict[str, tuple[dict[str, Any], str]] = {
    "command": ({"command": "npx", "args": ["-y", "server", 8080]}, "stdio"),
    "stdio": ({"type": "stdio", "command": "uvx", "env": {"A": 1}}, "stdio"),
    "url": ({"url": "https://a.example/mcp"}, "http"),
    "http": ({"type": "http", "url": "https://a.example/mcp", "headers": {"X": "y"}}, "http"),
    "streamable": ({"type": "streamable-http", "url": "https://a.example"}, "http"),
    "sse": ({"type": "sse", "url": "http://localhost:1/sse"}, "sse"),
    "transport": ({"transport": "sse", "url": "http://localhost:1/sse"}, "sse"),
    "value": ({"url": "${HOST:-https://a.example}/mcp"}, "http"),
}


@pytest.mark.parametrize(("content", "transport"), FORMS.values(), ids=list(FORMS))
def test_the_forms_of_other_clients_are_read(content: Json, transport: str) -> None:
    assert checked_entry("a", content, "user").transport == transport


BROKEN: dict[str, tuple[str, Json]] = {
    "name": ("a b", {"command": "x"}),
    "nothing": ("a", {}),
    "list": ("a", []),
    "type": ("a", {"type": "websocket", "url": "https://a.example"}),
    "scheme": ("a", {"url": "file:///etc/passwd"}),
    "line end": ("a", {"url": "https://a.example", "headers": {"X": "a\nb: c"}}),
    "zero": ("a", {"command": "x", "args": ["\0"]}),
    "variable": ("a", {"command": "x", "env": {"A=B": "1"}}),
    "no command": ("a", {"type": "stdio", "url": "https://a.example"}),
}


@pytest.mark.parametrize(("name", "content"), BROKEN.values(), ids=list(BROKEN))
def test_a_broken_entry_is_a_problem_and_the_others_are_used(name: str, content: Json) -> None:
    text = json.dumps({"mcpServers": {name: content, "good": {"command": "x"}}}, indent=1)
    entries, problems = parse_servers(text, ".mcp.json", "workspace")
    assert [(entry.name, entry.file) for entry in entries] == [("good", ".mcp.json")]
    assert [(problem.server, problem.line) for problem in problems] == [(name, 3)]
    with pytest.raises(InvalidRequest):
        checked_entry(name, content, "user")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"mcpServers": []}', "[" * 100_000])
def test_a_file_without_servers_is_never_fatal(text: str) -> None:
    entries, problems = parse_servers(text, ".mcp.json", "workspace")
    assert entries == []
    assert len(problems) == (0 if text == "{}" else 1)


def test_the_administrator_may_leave_out_the_object_around_the_servers() -> None:
    inner: dict[str, Any] = {"a": {"command": "x"}}
    assert parse_trait(inner, "trait") == parse_trait({"mcpServers": inner}, "trait")
    assert parse_trait({}, "trait") == ([], [])


def test_values_are_filled_in_and_missing_ones_named_with_their_fields() -> None:
    content: Json = {
        "command": "${BIN:-npx}",
        "args": ["--key=${KEY}", "${EMPTY:-}"],
        "env": {"KEY": "${KEY}", "PLAIN": "$KEY"},
    }
    entry = checked_entry("a", content, "user")
    assert entry.variables == ("BIN", "KEY", "EMPTY")
    none = dict[str, str]().get
    assert missing_values(entry, none) == (MissingValue("KEY", ("args.0", "env.KEY")),)
    filled = with_values(entry, {"KEY": "${BIN}", "BIN": "node"}.get)
    assert (filled.command, filled.args) == ("node", ("--key=${BIN}", ""))
    assert dict(filled.env) == {"KEY": "${BIN}", "PLAIN": "$KEY"}
    assert filled.digest == entry.digest


def test_the_digest_covers_everything_written() -> None:
    base: dict[str, Json] = {"command": "x", "args": ["1"], "env": {"A": "1"}}
    entries = [
        checked_entry("a", base, "workspace"),
        checked_entry("b", base, "workspace"),
        checked_entry("a", {**base, "env": {"A": "2"}}, "workspace"),
        checked_entry("a", {**base, "unknown": 1}, "workspace"),
    ]
    assert len({entry.digest for entry in entries}) == len(entries)
