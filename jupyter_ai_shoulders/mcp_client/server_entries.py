"""Configured MCP servers: parsing of ``mcpServers``, and the values that entries name.

Pure. The form is the one other clients read: ``command``, ``args``, ``env``, ``cwd``, ``url``,
``type``, ``headers``, ``disabled``, and our own ``sampling``; other fields are ignored. Used by
``host.mcp_client``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, cast
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.core.folder_trust import item_digest
from jupyter_ai_shoulders.core.json_positions import json_line_of
from jupyter_ai_shoulders.mcp_client.ports import ServerSource
from jupyter_ai_shoulders.wire.base import Json

Transport = Literal["stdio", "http", "sse"]
MAX_SERVERS = 100
"""Entries of one file."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_TYPES: Mapping[str, Transport] = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "streamable_http": "http",
    "sse": "sse",
}


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """A server as configured; texts may contain ``${NAME}`` and ``${NAME:-default}``."""

    name: str
    source: ServerSource
    transport: Transport
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    cwd: str | None = None
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    disabled: bool = False
    sampling: bool = False
    """Whether it may ask for a model, with the user's agreement each time."""
    file: str | None = None
    line: int | None = None
    content: Json = None
    """The entry as written."""

    @property
    def digest(self) -> str:
        """Return the digest of the entry as written, for ``core.folder_trust``."""
        return item_digest("program", self.name, self.content)

    @property
    def host(self) -> str | None:
        """Return host and port of the address as written, or None."""
        return urlsplit(self.url).netloc.rpartition("@")[2] or None if self.url else None

    @property
    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the fields that may name values, with their texts."""
        yield "command", self.command
        yield from ((f"args.{index}", text) for index, text in enumerate(self.args))
        yield from ((f"env.{name}", text) for name, text in self.env)
        yield "url", self.url
        yield from ((f"headers.{name}", text) for name, text in self.headers)

    @property
    def variables(self) -> tuple[str, ...]:
        """Return the names of the values that the entry uses, each once."""
        named = (name for _, text in self.texts for name, _ in _VARIABLE.findall(text))
        return tuple(dict.fromkeys(named))


@dataclass(frozen=True, slots=True)
class MissingValue:
    """A value without a default that is not there, and the fields that use it."""

    name: str
    used_in: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConfigurationProblem:
    """A file or an entry that cannot be used."""

    file: str
    message: str
    server: str | None = None
    line: int | None = None


Lookup = Callable[[str], str | None]
"""Returns the value of a name, or None."""


def missing_values(entry: ServerEntry, lookup: Lookup) -> tuple[MissingValue, ...]:
    """Return the values that the entry needs and ``lookup`` does not have."""
    used: dict[str, list[str]] = {}
    for field, text in entry.texts:
        for found in _VARIABLE.finditer(text):
            if found[2] is None and lookup(found[1]) is None:
                used.setdefault(found[1], []).append(field)
    return tuple(MissingValue(name, tuple(dict.fromkeys(fields))) for name, fields in used.items())


def with_values(entry: ServerEntry, lookup: Lookup) -> ServerEntry:
    """Return the entry with its values filled in; missing ones become empty."""

    def filled(text: str) -> str:
        return _VARIABLE.sub(lambda found: lookup(found[1]) or found[2] or "", text)

    return replace(
        entry,
        command=filled(entry.command),
        args=tuple(map(filled, entry.args)),
        env=tuple((name, filled(text)) for name, text in entry.env),
        url=filled(entry.url),
        headers=tuple((name, filled(text)) for name, text in entry.headers),
    )


def parse_servers(
    text: str, file: str, source: ServerSource
) -> tuple[list[ServerEntry], list[ConfigurationProblem]]:
    """Return the usable entries of a file, and what is wrong with the others."""
    try:
        content: object = json.loads(text)
    except json.JSONDecodeError as error:
        problem = f"The file is not valid JSON: {error.msg}. None of its servers are used."
        return [], [ConfigurationProblem(file, problem, line=error.lineno)]
    except (ValueError, RecursionError):
        return [], [ConfigurationProblem(file, "The file is not valid JSON.", line=1)]
    found = _parse(content, file, source)
    return (
        [
            replace(entry, file=file, line=json_line_of(text, ["mcpServers", entry.name]))
            for entry in found[0]
        ],
        [
            replace(problem, line=json_line_of(text, ["mcpServers", problem.server or ""]))
            for problem in found[1]
        ],
    )


def parse_trait(
    content: Mapping[str, Any], name: str
) -> tuple[list[ServerEntry], list[ConfigurationProblem]]:
    """Return the entries of the administrator; ``mcpServers`` around them may be left out."""
    whole = content if isinstance(content.get("mcpServers"), Mapping) else {"mcpServers": content}
    return _parse(whole, name, "administrator")


def checked_entry(name: str, content: Json, source: ServerSource) -> ServerEntry:
    """Return an entry made by the user. Raises ``InvalidRequest``."""
    try:
        return _entry(name, content, source)
    except _UnusableEntry as error:
        raise InvalidRequest(f"The server {name} cannot be saved: {error}") from error


class _UnusableEntry(Exception):
    """The entry has no usable form; the text says why, as a sentence."""


def _text(value: object) -> object:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


_Text = Annotated[str, BeforeValidator(_text)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    type: str | None = None
    transport: str | None = None
    command: str | None = None
    args: tuple[_Text, ...] = ()
    env: dict[str, _Text] = {}
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, _Text] = {}
    disabled: bool = False
    sampling: bool = False


def _parse(
    content: object, file: str, source: ServerSource
) -> tuple[list[ServerEntry], list[ConfigurationProblem]]:
    servers = (
        cast("Mapping[str, object]", content).get("mcpServers", {})
        if isinstance(content, Mapping)
        else None
    )
    if not isinstance(servers, Mapping):
        return [], [ConfigurationProblem(file, "There is no object “mcpServers” in the file.")]
    entries: list[ServerEntry] = []
    problems: list[ConfigurationProblem] = []
    for name, written in cast("Mapping[str, Json]", servers).items():
        if len(entries) == MAX_SERVERS:
            text = f"The file has more than {MAX_SERVERS} servers; the others are not used."
            problems.append(ConfigurationProblem(file, text, name))
            break
        try:
            entries.append(_entry(name, written, source))
        except _UnusableEntry as error:
            problems.append(ConfigurationProblem(file, str(error), name))
    return entries, problems


def _entry(name: str, content: Json, source: ServerSource) -> ServerEntry:
    if not NAME.fullmatch(name):
        raise _UnusableEntry(
            "The name of a server has letters, digits, “_”, “-” and “.”, 64 at most."
        )
    try:
        read = _Entry.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "The entry"
        raise _UnusableEntry(f"{place}: {first['msg']}.") from error
    transport = _transport(read)
    _check(read, transport)
    return ServerEntry(
        name=name,
        source=source,
        transport=transport,
        command=read.command or "" if transport == "stdio" else "",
        args=read.args if transport == "stdio" else (),
        env=tuple(read.env.items()) if transport == "stdio" else (),
        cwd=read.cwd if transport == "stdio" else None,
        url=read.url or "" if transport != "stdio" else "",
        headers=tuple(read.headers.items()) if transport != "stdio" else (),
        disabled=read.disabled,
        sampling=read.sampling,
        content=content,
    )


def _transport(read: _Entry) -> Transport:
    named = read.type or read.transport
    if named is None:
        return "stdio" if read.command else "http"
    if named not in _TYPES:
        raise _UnusableEntry(f"The type {named[:40]!r} is not known; use stdio, http or sse.")
    return _TYPES[named]


def _check(read: _Entry, transport: Transport) -> None:
    if transport == "stdio":
        if not read.command:
            raise _UnusableEntry("It has neither a command nor a url.")
        texts = (read.command, *read.args, *read.env, *read.env.values(), read.cwd or "")
        if any("\0" in text for text in texts) or any("=" in name for name in read.env):
            raise _UnusableEntry("It has a character that programs cannot be given.")
        return
    if not read.url:
        raise _UnusableEntry("It has neither a command nor a url.")
    scheme = read.url.partition("://")[0].lower()
    if scheme not in {"http", "https"} and not read.url.startswith("${"):
        raise _UnusableEntry("Its url must begin with http:// or https://.")
    texts = (*read.headers, *read.headers.values(), read.url)
    if any(not text.isprintable() for text in texts):
        raise _UnusableEntry("It has a character that requests cannot have.")
