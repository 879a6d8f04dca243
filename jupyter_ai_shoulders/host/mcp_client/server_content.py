"""Resources and prompts of MCP servers, for ``@`` and ``/`` in the input.

Only running servers are asked when lists are wanted, so that typing starts nothing; reading one
starts its server. Lists are kept for a short time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, ShouldersError
from jupyter_ai_shoulders.engine.environment.attachments import AttachmentContent
from jupyter_ai_shoulders.mcp_client.ports import ServerConnection, ServerPool
from jupyter_ai_shoulders.tools.mcp.results import AnswerParts
from jupyter_ai_shoulders.wire.api.mcp.content import (
    MCP_MATCH_LIMIT,
    McpProblemOfServer,
    McpPromptArgument,
    McpPromptList,
    McpPromptText,
    McpPromptView,
    McpResourceMatch,
    McpResourceMatches,
)
from jupyter_ai_shoulders.wire.hidden_characters import visible
from jupyter_ai_shoulders.wire.parts import ImagePart, ResultContent, TextPart

if TYPE_CHECKING:
    import mcp_types

KEPT_SECONDS = 10.0
LIST_SECONDS = 5.0
READ_SECONDS = 30.0
MAX_RESOURCES = 2_000
"""Resources of one server that are searched."""
MAX_PROMPTS = 100
MAX_CONTENT = 50 * 1024
"""Characters of a resource that a message includes."""
MAX_PROMPT_TEXT = 50_000
ListedT = TypeVar("ListedT")


class ServerContent:
    """Lists and reads what servers offer beside tools."""

    def __init__(self, servers: ServerPool, clock: Clock) -> None:
        self._servers = servers
        self._clock = clock
        self._resources = _Lists[McpResourceMatch](clock)
        self._prompts = _Lists[McpPromptView](clock)

    async def resources(self, query: str) -> McpResourceMatches:
        """Return the resources of running servers whose names or addresses contain all words."""
        found, problems = await self._listed(self._resources, _resources_of, "has_resources")
        words = query.lower().split()
        matches = [each for each in found if all(word in _searched(each) for word in words)]
        matches.sort(key=lambda each: (not each.name.lower().startswith(query.lower()), each.name))
        return McpResourceMatches(
            resources=tuple(matches[:MCP_MATCH_LIMIT]),
            complete=len(matches) <= MCP_MATCH_LIMIT,
            problems=problems,
        )

    async def prompts(self) -> McpPromptList:
        """Return the prompts of running servers."""
        found, problems = await self._listed(self._prompts, _prompts_of, "has_prompts")
        return McpPromptList(prompts=tuple(found), problems=problems)

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> McpPromptText:
        """Return a prompt's text. Raises ``ShouldersError``."""
        async with asyncio.timeout(READ_SECONDS):
            connection = await self._servers.connection(server)
            answer = await connection.get_prompt(name, arguments)
        parts = AnswerParts()
        notes: list[str] = []
        for message in answer.messages[:50]:
            if message.role != "user":
                notes.append("An answer that the prompt puts into the model's mouth is left out.")
                continue
            await parts.add_all([message.content])
        texts = [part.text for part in parts.content if isinstance(part, TextPart)]
        if any(isinstance(part, ImagePart) for part in parts.content):
            notes.append("Pictures of the prompt are left out.")
        text = "\n\n".join(texts)
        if len(text) > MAX_PROMPT_TEXT:
            text = text[:MAX_PROMPT_TEXT]
            notes.append(f"Only its first {MAX_PROMPT_TEXT:,} characters are here.")
        if not text.strip():
            raise InvalidRequest(f"The prompt {visible(name)} of {server} has no text.")
        return McpPromptText(server=server, name=name, text=text, notes=tuple(dict.fromkeys(notes)))

    async def capture(self, server: str, uri: str, *, images: bool) -> AttachmentContent:
        """Return a resource for a message; see ``ServerResources``."""
        async with asyncio.timeout(READ_SECONDS):
            connection = await self._servers.connection(server)
            answer = await connection.read_resource(uri)
        if not answer.contents:
            raise NotFound(f"The MCP server {server} has nothing at {visible(uri)[:200]}.")
        parts = AnswerParts()
        for content in answer.contents[:20]:
            await parts.add_resource(content)
        shown = [part for part in parts.content if images or isinstance(part, TextPart)]
        notes = [] if len(shown) == len(parts.content) else ["this model cannot read its pictures"]
        cut = _shortened(shown, notes)
        note = "; ".join(dict.fromkeys(notes)) or None
        return AttachmentContent(tuple(cut), note, warn=note is not None)

    async def _listed(
        self,
        kept: _Lists[ListedT],
        read: Callable[[ServerConnection], Awaitable[Sequence[ListedT]]],
        capability: str,
    ) -> tuple[list[ListedT], tuple[McpProblemOfServer, ...]]:
        names = [
            state.name
            for state in self._servers.states()
            if state.status == "running" and state.info and getattr(state.info, capability)
        ]
        found: list[ListedT] = []
        problems: list[McpProblemOfServer] = []
        for name, listed in zip(
            names,
            await asyncio.gather(*(self._one(kept, read, name) for name in names)),
            strict=True,
        ):
            if isinstance(listed, str):
                problems.append(McpProblemOfServer(server=name, message=listed))
            else:
                found += listed
        return found, tuple(problems)

    async def _one(
        self,
        kept: _Lists[ListedT],
        read: Callable[[ServerConnection], Awaitable[Sequence[ListedT]]],
        name: str,
    ) -> Sequence[ListedT] | str:
        known = kept.get(name)
        if known is not None:
            return known
        try:
            async with asyncio.timeout(LIST_SECONDS):
                listed = await read(await self._servers.connection(name))
        except TimeoutError:
            return f"It did not answer within {LIST_SECONDS:g} s."
        except ShouldersError as error:
            return str(error)
        kept.put(name, listed)
        return listed


class _Lists(Generic[ListedT]):
    """Lists of servers that are kept for a short time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[float, Sequence[ListedT]]] = {}

    def get(self, server: str) -> Sequence[ListedT] | None:
        at, listed = self._kept.get(server, (float("-inf"), ()))
        return listed if self._clock.monotonic() - at < KEPT_SECONDS else None

    def put(self, server: str, listed: Sequence[ListedT]) -> None:
        self._kept[server] = (self._clock.monotonic(), listed)


def _shortened(content: Sequence[ResultContent], notes: list[str]) -> list[ResultContent]:
    """Return the content with its texts cut at the limit; a cut is added to the notes."""
    left = MAX_CONTENT
    cut: list[ResultContent] = []
    for part in content:
        if not isinstance(part, TextPart):
            cut.append(part)
            continue
        if len(part.text) > left:
            notes.append(f"only its first {MAX_CONTENT // 1024} KB are shown")
        cut.append(TextPart(text=part.text[:left]))
        left -= len(cut[-1].text) if isinstance(cut[-1], TextPart) else 0
    return cut


async def _resources_of(connection: ServerConnection) -> list[McpResourceMatch]:
    listed = await connection.list_resources()
    return [_resource(connection.name, each) for each in listed[:MAX_RESOURCES]]


def _resource(server: str, resource: mcp_types.Resource) -> McpResourceMatch:
    return McpResourceMatch(
        server=server,
        uri=resource.uri[:2_048],
        name=_cut(resource.name) or "",
        title=_cut(resource.title),
        description=_cut(resource.description),
        media_type=_cut(resource.mime_type),
        size=resource.size,
    )


async def _prompts_of(connection: ServerConnection) -> list[McpPromptView]:
    listed = await connection.list_prompts()
    return [_prompt(connection.name, each) for each in listed[:MAX_PROMPTS]]


def _prompt(server: str, prompt: mcp_types.Prompt) -> McpPromptView:
    return McpPromptView(
        server=server,
        name=prompt.name[:256],
        title=_cut(prompt.title),
        description=_cut(prompt.description),
        arguments=tuple(
            McpPromptArgument(
                name=each.name[:256],
                description=_cut(each.description),
                required=bool(each.required),
            )
            for each in (prompt.arguments or [])[:50]
        ),
    )


def _searched(resource: McpResourceMatch) -> str:
    return f"{resource.server} {resource.name} {resource.title or ''} {resource.uri}".lower()


def _cut(text: str | None) -> str | None:
    return None if text is None else " ".join(visible(text[:300]).split())
