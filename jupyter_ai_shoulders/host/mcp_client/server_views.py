"""MCP servers as the settings page shows them. Used by ``host.mcp_client.service``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from jupyter_ai_shoulders.host.mcp_client.configuration import ConfigurationSources, ServerConfig
from jupyter_ai_shoulders.host.mcp_client.sign_ins import SignIns
from jupyter_ai_shoulders.mcp_client.pool import INSTALL, ConnectionPool
from jupyter_ai_shoulders.mcp_client.ports import ServerConnection
from jupyter_ai_shoulders.mcp_client.server_entries import ServerEntry
from jupyter_ai_shoulders.tools.mcp.offers import ServerOffer
from jupyter_ai_shoulders.wire.api.mcp_servers import (
    McpMissingValue,
    McpServerView,
    McpToolLeftOut,
    McpTrust,
)
from jupyter_ai_shoulders.wire.hidden_characters import legible, visible


@dataclass(frozen=True, slots=True)
class OfferCounts:
    """How much a server offers."""

    tools: int
    resources: int
    prompts: int

    def __str__(self) -> str:
        return f"tools: {self.tools}, resources: {self.resources}, prompts: {self.prompts}"


class ServerViews:
    """Makes views, and keeps the counts of the last test."""

    def __init__(
        self,
        sources: ConfigurationSources,
        pool: ConnectionPool,
        sign_ins: SignIns,
        redact: Callable[[str], str],
    ) -> None:
        self._sources = sources
        self._pool = pool
        self._sign_ins = sign_ins
        self.redact = redact
        self._counts: dict[str, OfferCounts] = {}
        self.offer: Callable[[str], ServerOffer | None] = lambda _: None
        """Returns what the agent is offered; set by the part that reads it."""

    async def count(self, connection: ServerConnection) -> OfferCounts:
        """List what a server offers. Raises ``ShouldersError``."""
        counts = OfferCounts(
            tools=len(await connection.list_tools()),
            resources=len(await connection.list_resources()),
            prompts=len(await connection.list_prompts()),
        )
        self._counts[connection.name] = counts
        return counts

    async def view(self, config: ServerConfig) -> McpServerView:
        """Return the view of a server; its texts are redacted."""
        entry = config.entry
        state = self._pool.state(entry.name)
        stored, authorization = await asyncio.to_thread(
            lambda: (self._stored(entry), self._sign_ins.status(entry))
        )
        counts, info = self._counts.get(entry.name), state.info
        offer = self.offer(entry.name) or ServerOffer(server=entry.name)
        return McpServerView(
            name=entry.name,
            source=entry.source,
            file=entry.file,
            line=entry.line,
            transport=entry.transport,
            command=tuple(map(self.redact, (entry.command, *entry.args))) if entry.command else (),
            environment_names=tuple(name for name, _ in entry.env),
            header_names=tuple(name for name, _ in entry.headers),
            folder=entry.cwd,
            url=self.redact(entry.url) or None,
            host=entry.host,
            enabled=config.enabled,
            sampling=entry.sampling,
            status=state.status,
            trust=self._trust(entry),
            trust_id=entry.digest if entry.source == "workspace" else None,
            missing_values=_missing(config),
            stored_values=stored,
            authorization=authorization,
            blocked=state.blocked,
            error=state.error and self.redact(state.error),
            hint=config.server.blocked and config.server.blocked.info.hint,
            lock_reason=_lock_reason(entry),
            server_name=info and visible(self.redact(info.title or info.name)),
            server_version=info and visible(self.redact(info.version)),
            instructions=info
            and info.instructions
            and legible(self.redact(info.instructions[:4000])),
            tool_count=counts and counts.tools,
            resource_count=counts and counts.resources,
            prompt_count=counts and counts.prompts,
            left_out=tuple(
                McpToolLeftOut(tool=self.redact(each.tool), reason=self.redact(each.reason))
                for each in offer.left_out
            ),
            more_left_out=offer.more_left_out,
            unread=offer.unread,
            log_lines=tuple(map(self.redact, self._pool.log_lines(entry.name))),
        )

    def _stored(self, entry: ServerEntry) -> tuple[str, ...]:
        found = ((name, self._sources.keys.get(name)) for name in entry.variables)
        return tuple(name for name, key in found if key and key.source != "environment")

    def _trust(self, entry: ServerEntry) -> McpTrust:
        if entry.source != "workspace":
            return "not_needed"
        answer = self._sources.trust.answer(entry.digest)
        if answer is not None:
            return answer
        if self._sources.policy == "forbidden":
            return "forbidden"
        return "changed" if self._sources.was_answered(entry.name) else "new"


def missing_extra() -> str | None:
    """Return the command that installs the SDK; None when it is there."""
    return None if find_spec("mcp") is not None else INSTALL


def _missing(config: ServerConfig) -> tuple[McpMissingValue, ...]:
    return tuple(
        McpMissingValue(name=value.name, used_in=value.used_in) for value in config.missing
    )


def _lock_reason(entry: ServerEntry) -> str | None:
    match entry.source:
        case "administrator":
            return "Your administrator has configured this server (Shoulders.mcp_servers)."
        case "workspace":
            return "The folder's .mcp.json has this entry; edit it there."
        case "user":
            return None
