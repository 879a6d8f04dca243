"""The connected clients of the MCP server, each with a conversation of its own.

Made by ``ProtocolServices`` on the first request of a client; knows nothing of the SDK.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from jupyter_ai_shoulders.core.catalogue.external_agents import CLIENT_PREFIX
from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.host.mcp_server.conversation import (
    CallOutcome,
    ClientConversation,
    ConversationPorts,
)
from jupyter_ai_shoulders.host.mcp_server.provider import ClientProvider
from jupyter_ai_shoulders.host.sessions.service import SessionService
from jupyter_ai_shoulders.providers.base import ResolvedModel
from jupyter_ai_shoulders.storage.base import Sessions
from jupyter_ai_shoulders.wire.api.commands import CreateSession
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId, SessionId
from jupyter_ai_shoulders.wire.sessions import Mode

PROVIDER = ProviderId("mcp")
UNNAMED = "MCP client"
MAX_NAME = 60
FORGET_AFTER_SECONDS = 30 * 60.0
"""A client without a call for this long gets a new conversation with its next one."""
_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+")


@dataclass(frozen=True, slots=True)
class ClientKey:
    """Identifies a client: two with different keys have different conversations."""

    actor: str
    """The token or user it authenticates with."""
    name: str
    connection: str
    """The protocol session; empty where the protocol has none."""
    owner: str | None
    """The owner of its conversations, where users are distinguished."""


@dataclass(eq=False, slots=True)
class _Connected:
    conversation: ClientConversation
    last_call: float


class McpClients:
    """Finds or creates the conversation of each client; implements ``ExternalAgents``."""

    def __init__(
        self,
        ports: ConversationPorts,
        service: SessionService,
        sessions: Sessions,
        clock: Clock,
    ) -> None:
        self._ports = ports
        self._service = service
        self._sessions = sessions
        self._clock = clock
        self._mode: Mode | None = None
        self._interactive: bool | None = None
        self._connected: dict[ClientKey, _Connected] = {}
        self._provider = ClientProvider(self._by_session)

    def set_defaults(self, *, mode: Mode | None, interactive: bool | None) -> None:
        """Choose the mode of new conversations, and whether somebody can be asked in them."""
        self._mode, self._interactive = mode, interactive

    def resolve(self, model_id: ModelId) -> ResolvedModel:
        """Return the client as a model; starts nothing."""
        name = model_id.removeprefix(CLIENT_PREFIX)
        spec = ModelSpec(id=model_id, name=name, provider=PROVIDER, model=name, images=True)
        return ResolvedModel(spec, self._provider)

    async def call(
        self, key: ClientKey, tool: str, arguments: JsonObject, report: Callable[[str], None]
    ) -> CallOutcome:
        """Make a call in the client's conversation. Raises ``ShouldersError`` (no conversation).

        ``report`` receives what the call waits for, and its output.
        """
        return await self._conversation(key).call(tool, arguments, report)

    def disconnected(self, connection: str) -> None:
        """End the open turns of a protocol session that its client has ended."""
        for key in [key for key in self._connected if key.connection == connection]:
            self._connected[key].conversation.finish()

    def close(self) -> None:
        """Fail the calls that wait: the server stops."""
        for connected in self._connected.values():
            connected.conversation.close()
        self._connected.clear()

    def _conversation(self, key: ClientKey) -> ClientConversation:
        now = self._clock.monotonic()
        self._forget_old(now)
        connected = self._connected.get(key)
        if connected is not None and self._exists(connected.conversation.session_id):
            connected.last_call = now
            return connected.conversation
        session = self._service.create(
            CreateSession(
                kind="agent",
                title=key.name,
                model=ModelId(CLIENT_PREFIX + key.name),
                mode=self._mode,
                interactive=self._interactive,
            ),
            key.owner,
        )
        conversation = ClientConversation(session.id, key.name, self._ports)
        self._connected[key] = _Connected(conversation, now)
        return conversation

    def _exists(self, session_id: SessionId) -> bool:
        try:
            self._sessions.get(session_id)
        except NotFound:  # deleted by the user
            return False
        return True

    def _by_session(self, session_id: SessionId) -> ClientConversation | None:
        found = (connected.conversation for connected in self._connected.values())
        return next((one for one in found if one.session_id == session_id), None)

    def _forget_old(self, now: float) -> None:
        for key, connected in list(self._connected.items()):
            old = now - connected.last_call > FORGET_AFTER_SECONDS
            if old and not connected.conversation.is_busy:
                connected.conversation.close()
                del self._connected[key]


def shown_name(name: str) -> str:
    """Return a client's name as it is shown: one short line without invisible characters."""
    plain = " ".join(_UNSHOWN.sub(" ", name).split())
    return plain[:MAX_NAME].strip() or UNNAMED
