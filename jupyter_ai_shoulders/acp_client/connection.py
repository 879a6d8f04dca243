"""The connection to one running agent: starts it, opens its session, sends messages, ends it.

Made by ``host.external_agents``. Every wait for the agent is bounded, except that for the end of a
prompt: the agent works, and the user can stop it. Imports the SDK, so it is imported on first use.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from acp import PROTOCOL_VERSION, RequestError, schema
from acp.client.connection import ClientSideConnection

from jupyter_ai_shoulders.acp_client import updates
from jupyter_ai_shoulders.acp_client.message_lines import MessageLines
from jupyter_ai_shoulders.acp_client.sdk_client import SdkClient
from jupyter_ai_shoulders.acp_client.values import (
    AgentFacts,
    AgentListener,
    McpEndpoint,
    PromptBlock,
    PromptText,
)
from jupyter_ai_shoulders.core.errors import NotFound, ProviderError
from jupyter_ai_shoulders.guard.process.stdio_process import (
    StdioCommand,
    StdioProcess,
    StdioProcessStarter,
)
from jupyter_ai_shoulders.wire.errors import ErrorCode

_log = logging.getLogger(__name__)
AUTH_REQUIRED = -32000
"""Error code of the protocol."""
_SHOWN = 600
_ERROR_LINES = 5


@dataclass(frozen=True, slots=True)
class AgentTimeouts:
    """Seconds that each stage may take."""

    initialize: float = 60.0
    session: float = 60.0
    option: float = 20.0
    cancel: float = 5.0
    close: float = 3.0


@dataclass(frozen=True, slots=True)
class PromptEnd:
    """How a prompt ended, and the tokens the agent reports."""

    reason: str
    input_tokens: int = 0
    output_tokens: int = 0


class AgentConnection:
    """A running agent with one session; always ``aclose`` it."""

    def __init__(
        self,
        title: str,
        command: StdioCommand,
        listener: AgentListener,
        timeouts: AgentTimeouts | None = None,
    ) -> None:
        self.facts = AgentFacts()
        self._title = title
        self._command = command
        self._timeouts = timeouts or AgentTimeouts()
        self._client = SdkClient(listener, self.facts, str(command.folder))
        self._process: StdioProcess | None = None
        self._lines: MessageLines | None = None
        self._sdk: Any = None

    @property
    def pid(self) -> int | None:
        """The id of its process."""
        return None if self._process is None else self._process.pid

    async def start(self, starter: StdioProcessStarter) -> None:
        """Start the program and agree on the protocol. Raises ``ProviderError``, ``NotFound``."""
        self._process = await starter.start(self._command)
        self._lines = MessageLines(self._process.stdout, self._title)
        self._sdk = ClientSideConnection(self._client, self._process.stdin, self._lines)  # pyright: ignore[reportArgumentType]: the client has what the SDK looks up by name
        files = schema.FileSystemCapabilities(read_text_file=True, write_text_file=True)
        capabilities = schema.ClientCapabilities(fs=files, terminal=True)
        async with self._stage("start", self._timeouts.initialize):
            answer = await self._sdk.initialize(
                protocol_version=PROTOCOL_VERSION,
                client_capabilities=capabilities,
                client_info=schema.Implementation(name="jupyter-ai-shoulders", version="0"),
            )
        if answer.protocol_version != PROTOCOL_VERSION:
            raise self._failed(
                f"{self._title} speaks version {answer.protocol_version} of the protocol, not "
                f"{PROTOCOL_VERSION}.",
                hint="Update it.",
            )
        if answer.agent_info is not None:
            self.facts.program = answer.agent_info.name
        self._take_capabilities(answer.agent_capabilities)

    async def new_session(self, mcp: McpEndpoint | None) -> None:
        """Open a new session in the workspace. Raises ``ProviderError``."""
        async with self._stage("open a session", self._timeouts.session):
            answer = await self._sdk.new_session(
                cwd=str(self._command.folder), mcp_servers=self._servers(mcp)
            )
        self.facts.session = answer.session_id
        self._take_offer(answer)

    async def continue_session(self, agent_session: str, mcp: McpEndpoint | None) -> bool:
        """Continue an earlier session; return whether the agent can. Raises ``ProviderError``."""
        facts = self.facts
        if not (facts.can_load or facts.can_resume):
            return False
        facts.session = agent_session
        self._client.is_replaying = True
        call = self._sdk.load_session if facts.can_load else self._sdk.resume_session
        try:
            async with self._stage("continue a session", self._timeouts.session):
                answer = await call(
                    cwd=str(self._command.folder),
                    session_id=agent_session,
                    mcp_servers=self._servers(mcp),
                )
        except ProviderError as error:
            if error.info.code != "provider_error":
                raise
            facts.session = ""
            return False  # it does not know the session any more
        else:
            if answer is not None:
                self._take_offer(answer)
            await self._after_replay()
        finally:
            self._client.is_replaying = False
        return True

    async def _after_replay(self) -> None:
        """Wait until the agent has repeated its history: some go on after their answer.

        Choosing the current mode again changes nothing, and is answered after what was sent before.
        """
        if self.facts.can_load and self.facts.mode is not None:
            try:
                await self.set_mode(self.facts.mode)
            except ProviderError as error:
                if error.info.code != "provider_error":
                    raise
                # It cannot change its mode; that is an answer, too.

    async def prompt(self, blocks: Sequence[PromptBlock]) -> PromptEnd:
        """Send a message and wait for the end of the agent's work. Raises ``ProviderError``."""
        async with self._stage("answer", None):
            answer = await self._sdk.prompt(
                session_id=self.facts.session, prompt=[_block(block) for block in blocks]
            )
        usage = answer.usage
        if usage is None:
            return PromptEnd(answer.stop_reason)
        return PromptEnd(answer.stop_reason, usage.input_tokens, usage.output_tokens)

    async def wait_ended(self) -> None:
        """Wait until its process has ended."""
        assert self._process is not None
        await self._process.wait()

    async def cancel(self) -> None:
        """Tell the agent that the user stopped it. Raises ``ProviderError``."""
        async with self._stage("stop", self._timeouts.cancel):
            await self._sdk.cancel(session_id=self.facts.session)

    async def set_mode(self, mode: str) -> None:
        """Change the agent's mode. Raises ``ProviderError``."""
        async with self._stage("change its mode", self._timeouts.option):
            await self._sdk.set_session_mode(session_id=self.facts.session, mode_id=mode)
        self.facts.mode = mode

    async def set_option(self, option: str, value: str) -> None:
        """Change an option of the agent. Raises ``ProviderError``."""
        current = next((item for item in self.facts.options if item.id == option), None)
        is_switch = current is not None and {c.id for c in current.choices} == {"true", "false"}
        given = value == "true" if is_switch else value
        async with self._stage("change an option", self._timeouts.option):
            answer = await self._sdk.set_config_option(
                config_id=option, session_id=self.facts.session, value=given
            )
        updates.set_options(self.facts, answer.config_options)

    async def aclose(self) -> None:
        """End the agent and all its processes."""
        if self._sdk is not None:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(self._timeouts.close):
                    await self._sdk.close()
        if self._process is not None:
            await self._process.aclose()

    @asynccontextmanager
    async def _stage(self, what: str, seconds: float | None) -> AsyncGenerator[None]:
        """Bound a request, and turn all its failures into ``ProviderError``."""
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError as error:
            raise self._failed(
                f"{self._title} did not {what} within {seconds:g} s.", code="provider_timeout"
            ) from error
        except RequestError as error:
            if error.code == AUTH_REQUIRED:
                raise self._failed(
                    f"{self._title} is not signed in.",
                    code="authentication",
                    hint="Sign in with its own program in a terminal, then send the message again.",
                ) from error
            detail = f" {error.data}" if error.data else ""
            raise self._failed(
                f"{self._title} could not {what}: {f'{error}{detail}'[:_SHOWN]}"
            ) from error
        except (ConnectionError, OSError) as error:
            if self._lines is not None and self._lines.is_too_long:
                raise self._failed(
                    f"{self._title} sent a message that is too long, and was ended.",
                    code="stream_truncated",
                    hint="Send the message again; the agent is started again.",
                ) from error
            raise self._failed(
                f"{self._title} ended before it could {what}.",
                code="stream_truncated",
                hint="Send the message again; the agent is started again.",
            ) from error
        except ValueError as error:  # an answer that is not what the protocol says
            raise self._failed(
                f"{self._title} sent an answer that is not valid.", code="provider_protocol"
            ) from error

    def _failed(
        self, message: str, *, code: ErrorCode = "provider_error", hint: str | None = None
    ) -> ProviderError:
        lines = self._process.error_lines()[-_ERROR_LINES:] if self._process else ()
        said = f" It printed: {' | '.join(lines)[-_SHOWN:]}" if lines else ""
        return ProviderError(f"{message}{said}", code=code, hint=hint, provider="acp")

    def _take_capabilities(self, found: schema.AgentCapabilities | None) -> None:
        if found is None:
            return
        sessions = found.session_capabilities
        self.facts.can_load = bool(found.load_session)
        self.facts.can_resume = sessions is not None and sessions.resume is not None
        self.facts.images = bool(found.prompt_capabilities and found.prompt_capabilities.image)
        self._http = bool(found.mcp_capabilities and found.mcp_capabilities.http)

    _http = False

    def _servers(self, mcp: McpEndpoint | None) -> list[Any]:
        if mcp is None or not self._http:
            return []
        headers = [schema.HttpHeader(name=name, value=v) for name, v in mcp.headers.items()]
        return [schema.HttpMcpServer(type="http", name=mcp.name, url=mcp.url, headers=headers)]

    def _take_offer(self, answer: Any) -> None:
        updates.set_modes(self.facts, answer.modes)
        updates.set_options(self.facts, answer.config_options)


def _block(block: PromptBlock) -> Any:
    if isinstance(block, PromptText):
        return schema.TextContentBlock(type="text", text=block.text)
    return schema.ImageContentBlock(type="image", data=block.data, mime_type=block.media_type)


async def start_agent(
    starter: StdioProcessStarter, connection: AgentConnection, title: str, install: str | None
) -> None:
    """Start it, with the install command in the error when its program is missing."""
    try:
        await connection.start(starter)
    except NotFound as error:
        how = f"Install it: {install}" if install else error.info.hint
        raise ProviderError(
            f"{title} is not installed.", code="provider_unreachable", hint=how, provider="acp"
        ) from error
