"""What a kernel's secret opens of the API: ``Client()`` works where there is a password only.

Conversations as their user has them, and looks at models, usage and preferences: what
``client`` and the widget panel need. Nothing that widens what the agent may do: code in a kernel
may be the agent's, and tools never change permissions, settings or keys (chapter 13). Where users
are told apart it opens nothing here: they may meet in one kernel. A hub has tokens for them.
Used by ``server.handlers.base``, ``server.connections.page_socket`` and ``server.routes``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pydantic import BaseModel
from tornado.httputil import HTTPServerRequest

from jupyter_ai_shoulders.core.errors import PolicyRefusal
from jupyter_ai_shoulders.server.auth.kernel_secrets import KernelIdentity, KernelSecrets
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    CreateSession,
    PatchSession,
    ResumeTurn,
    SendMessage,
    StartRun,
)
from jupyter_ai_shoulders.wire.frames import Hello, PageFrame, Subscribe, Unsubscribe

ID = "([^/]+)"
GET, POST, PATCH = "GET", "POST", "PATCH"
SOCKET = "socket"
OPEN: Mapping[str, Collection[str]] = {
    "status": (GET,),
    "models": (GET,),
    "settings": (GET,),
    "trust": (GET,),
    "usage": (GET,),
    "sessions": (GET, POST),
    f"sessions/{ID}": (GET, PATCH),
    f"sessions/{ID}/export": (GET,),
    f"sessions/{ID}/events": (GET,),
    f"sessions/{ID}/messages": (POST,),
    f"sessions/{ID}/messages/{ID}": (PATCH, "DELETE"),
    f"sessions/{ID}/cancel": (POST,),
    f"sessions/{ID}/resume": (POST,),
    f"sessions/{ID}/approvals/{ID}": (POST,),
    f"sessions/{ID}/clarifications/{ID}": (POST,),
    f"sessions/{ID}/stdin/{ID}": (POST,),
    f"blobs/{ID}": (GET,),
    "runs": (POST,),
    f"kernels/{ID}/notebook": (GET,),
    SOCKET: (GET,),
}
"""Routes, as ``server.routes`` names them, and their methods."""


class KernelAuthenticator:
    """Lets kernels in at one route."""

    def __init__(self, secrets: KernelSecrets, methods: Collection[str]) -> None:
        self._secrets = secrets
        self._methods = frozenset(methods)

    def identity(self, request: HTTPServerRequest) -> KernelIdentity | None:
        """Return whom a request acts for that holds a kernel's secret; None: ask Jupyter."""
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() not in {"token", "bearer"} or request.method not in self._methods:
            return None
        user = self._secrets.user_of(secret.strip())
        return None if user is None else KernelIdentity(user)


def kernel_access_by_route(
    secrets: KernelSecrets | None,
) -> Mapping[str, Mapping[str, KernelAuthenticator]]:
    """Return what handlers are given more, by route; nothing without ``secrets``."""
    if secrets is None:
        return {}
    return {
        route: {"door": KernelAuthenticator(secrets, methods)} for route, methods in OPEN.items()
    }


def refuse_privilege_escalation(command: BaseModel) -> None:
    """Raise ``PolicyRefusal`` for what a kernel's secret must not do on its open routes."""
    match command:
        case AnswerApproval(scope="always"):
            what = "A permanent rule"
        case (
            CreateSession(mode="bypass")
            | PatchSession(mode="bypass")
            | SendMessage(mode="bypass")
            | StartRun(mode="bypass")
        ):
            what = "The mode that never asks"
        case ResumeTurn(limit_micro_usd=int()):
            what = "A higher spending limit"
        case _:
            return
    raise PolicyRefusal(
        f"{what} cannot be set by code in a kernel of a server without a token.",
        hint="Set it in the side panel, or give Client(token=…) a token of this server.",
    )


def refuse_document_frame(frame: PageFrame) -> None:
    """Raise ``PolicyRefusal`` for a frame about documents: they are open in a browser's page.

    Who speaks for a document decides what the agent reads in it, and its edits ask no more.
    """
    if not isinstance(frame, Hello | Subscribe | Unsubscribe):
        raise PolicyRefusal(
            f"A frame {frame.type!r} cannot be sent by code in a kernel: it has no documents open."
        )
