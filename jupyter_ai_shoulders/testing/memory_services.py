"""A ``ServiceClient`` that answers from a table, for tests of tools and of ``references``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError
from jupyter_ai_shoulders.core.web_services import ServiceId
from jupyter_ai_shoulders.guard.network.service_client import ServiceReply, ServiceRequest
from jupyter_ai_shoulders.wire.base import Json

Answer = ServiceReply | ShouldersError | Callable[[ServiceRequest], ServiceReply]


def json_reply(body: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """Return an answer with this JSON."""
    kind = {"content-type": "application/json", **(headers or {})}
    return ServiceReply(status, kind, json.dumps(body).encode())


def text_reply(text: str, status: int = 200, content_type: str = "text/plain") -> Answer:
    """Return an answer with this text."""
    return ServiceReply(status, {"content-type": content_type}, text.encode())


@dataclass(slots=True)
class MemoryServices:
    """Answers by service, for every path or for one; a service without an answer is unreachable."""

    answers: dict[ServiceId | tuple[ServiceId, str], Answer] = field(
        default_factory=dict[ServiceId | tuple[ServiceId, str], Answer]
    )
    requests: list[ServiceRequest] = field(default_factory=list[ServiceRequest])

    async def send(self, request: ServiceRequest) -> ServiceReply:
        """Return the answer for this path, else for the service."""
        self.requests.append(request)
        found = self.answers.get((request.service, request.path), self.answers.get(request.service))
        if found is None:
            raise NotFound(f"{request.service} cannot be reached: refused.", retryable=True)
        if isinstance(found, ShouldersError):
            raise found
        return found if isinstance(found, ServiceReply) else found(request)
