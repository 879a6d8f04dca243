"""The configured MCP servers: from the workspace, the user and the administrator.

Reads ``.mcp.json``, ``~/.shoulders/mcp.json`` and ``Shoulders.mcp_servers``; of servers with the
same name the administrator's wins, then the user's. Used by ``host.mcp_client.service``; blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_ai_shoulders.core.errors import (
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    ShouldersError,
)
from jupyter_ai_shoulders.core.folder_trust import (
    FolderItem,
    FolderTrust,
    ItemFacts,
    format_json_for_review,
    is_accepted,
)
from jupyter_ai_shoulders.guard.process.environment import command_environment
from jupyter_ai_shoulders.host.mcp_client.entry_changes import changes, facts_of
from jupyter_ai_shoulders.host.mcp_client.user_servers import UserServers
from jupyter_ai_shoulders.mcp_client.pool import ConfiguredServer
from jupyter_ai_shoulders.mcp_client.server_entries import (
    ConfigurationProblem,
    MissingValue,
    ServerEntry,
    missing_values,
    parse_servers,
    parse_trait,
    with_values,
)
from jupyter_ai_shoulders.providers.credentials.key_store import KeyStore
from jupyter_ai_shoulders.wire.api.folder_trust import TrustPolicy

WORKSPACE_FILE = ".mcp.json"
TRAIT = "Shoulders.mcp_servers"
_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization", "x-api-key"})


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One usable entry with what decides whether it starts."""

    entry: ServerEntry
    """As written."""
    enabled: bool
    missing: tuple[MissingValue, ...]
    server: ConfiguredServer


@dataclass(frozen=True, slots=True)
class Configuration:
    """All entries, in the order of their names."""

    servers: tuple[ServerConfig, ...] = ()
    problems: tuple[ConfigurationProblem, ...] = ()

    def of(self, name: str) -> ServerConfig:
        """Return a server's entry. Raises ``NotFound``."""
        for server in self.servers:
            if server.entry.name == name:
                return server
        raise NotFound(
            f"There is no MCP server {name!r}.", hint="See the settings under MCP servers."
        )


@dataclass(frozen=True, slots=True)
class ConfigurationSources:
    """Where the entries come from."""

    read_workspace: Callable[[], str]
    """Returns the text of ``.mcp.json``. Raises ``ShouldersError``."""
    user: UserServers
    trait: Mapping[str, Any]
    locked: bool
    """Whether only the administrator's servers exist."""
    trust: FolderTrust
    """The answers about entries of the workspace."""
    was_answered: Callable[[str], bool]
    """Whether an entry of this name was answered before, possibly with other content."""
    answered_facts: Callable[[str], ItemFacts | None]
    """Returns what was kept of the entry of this name that was answered last."""
    policy: TrustPolicy
    keys: KeyStore

    def load(self) -> Configuration:
        """Read everything."""
        found: dict[str, ServerEntry] = {}
        problems: list[ConfigurationProblem] = []
        for entries, wrong in self._parsed():
            problems.extend(wrong)
            for entry in entries:
                if entry.name in found:
                    other = found[entry.name].file or TRAIT
                    text = f"A server of the same name in {other} is used instead."
                    problems.append(
                        ConfigurationProblem(entry.file or TRAIT, text, entry.name, entry.line)
                    )
                else:
                    found[entry.name] = entry
        disabled = self.user.disabled()
        return Configuration(
            tuple(self._configured(entry, disabled) for _, entry in sorted(found.items())),
            tuple(problems),
        )

    def folder_items(self) -> tuple[FolderItem, ...]:
        """Return the entries of the workspace for the review of the folder."""
        return tuple(map(self._folder_item, self._workspace()[0]))

    def secrets(self, configuration: Configuration) -> Iterator[str]:
        """Yield the values that must not be shown."""
        for server in configuration.servers:
            yield from self._secrets(server.entry)

    def lookup(self, name: str) -> str | None:
        """Return the value of a name from the environment or the key store."""
        key = self.keys.get(name)
        return None if key is None else key.value

    def _parsed(self) -> Iterator[tuple[list[ServerEntry], list[ConfigurationProblem]]]:
        yield parse_trait(self.trait, TRAIT)
        if not self.locked:
            yield self.user.entries()
            yield self._workspace()

    def _workspace(self) -> tuple[list[ServerEntry], list[ConfigurationProblem]]:
        try:
            text = self.read_workspace()
        except NotFound:
            return [], []
        except (ShouldersError, OSError) as error:
            return [], [ConfigurationProblem(WORKSPACE_FILE, str(error))]
        return parse_servers(text, WORKSPACE_FILE, "workspace")

    def _configured(self, entry: ServerEntry, disabled: frozenset[str]) -> ServerConfig:
        missing = missing_values(entry, self.lookup)
        enabled = not entry.disabled and entry.name not in disabled
        return ServerConfig(
            entry,
            enabled,
            missing,
            ConfiguredServer(
                with_values(entry, self.lookup), self._blocked(entry, missing, enabled=enabled)
            ),
        )

    def _blocked(
        self, entry: ServerEntry, missing: Sequence[MissingValue], *, enabled: bool
    ) -> ShouldersError | None:
        if not enabled:
            return PolicyRefusal(
                f"The MCP server {entry.name} is switched off.",
                code="disabled",
                hint="Switch it on in the settings under MCP servers.",
            )
        if entry.source == "workspace" and not is_accepted(self.trust, entry.digest):
            return PolicyRefusal(
                f"The MCP server {entry.name} comes from the folder and is not trusted.",
                code="approval_required",
                hint="Review its command in the settings under MCP servers.",
            )
        if missing:
            names = ", ".join(value.name for value in missing)
            return InvalidRequest(
                f"The MCP server {entry.name} needs values that are missing: {names}.",
                code="no_key",
                hint="Give them in the settings under MCP servers, or set them in the environment.",
            )
        return None

    def _folder_item(self, entry: ServerEntry) -> FolderItem:
        facts, before = facts_of(entry), self.answered_facts(entry.name)
        warnings: list[str] = []
        if before is not None and self.trust.answer(entry.digest) is None:
            warnings += changes(before, facts)
        if entry.variables:
            names = ", ".join(entry.variables)
            whom = entry.host or "the program"
            warnings.append(f"Gives values of your keys or environment to {whom}: {names}.")
        return FolderItem(
            "program",
            entry.name,
            WORKSPACE_FILE,
            format_json_for_review(entry.content),
            entry.digest,
            line=entry.line,
            host=entry.host,
            warnings=tuple(warnings),
            facts=facts,
        )

    def _secrets(self, entry: ServerEntry) -> Iterator[str]:
        for name in entry.variables:
            key = self.keys.get(name)
            if key is not None and (key.source != "environment" or _is_secret(name, key.value)):
                yield key.value
        yield from (text for name, text in entry.env if _is_secret(name, text))
        for name, text in entry.headers:
            if name.lower() in _SECRET_HEADERS or _is_secret(name.replace("-", "_"), text):
                yield text.rpartition(" ")[2]


def _is_secret(name: str, value: str) -> bool:
    return bool(value) and not command_environment({name: value})
