"""Routes that a kernel's secret opens: ``Client()`` then works where there is only a password.

They cover what ``client`` and the widget panel need: the user's conversations, and reading models,
usage and preferences. None of them extends what the agent may do: code in a kernel may be the
agent's, and tools never change permissions, settings or keys; see docs/design/security.md. Where
users are distinguished no route is open, because several may use one kernel; hubs have tokens. Used
by ``server.handlers.base``, ``server.connections.page_socket`` and ``server.routes``.
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
from jupyter_ai_shoulders.wire.frames import (
    Hello,
    MessageSend,
    PageFrame,
    Subscribe,
    Unsubscribe,
)

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
    "search": (GET,),
    "agent-database": (GET,),
    f"kernels/{ID}/notebook": (GET,),
    SOCKET: (GET,),
}
"""Route patterns of ``server.routes``, and their methods."""


class KernelAuthenticator:
    """Authenticates kernels at one route."""

    def __init__(self, secrets: KernelSecrets, methods: Collection[str]) -> None:
        self._secrets = secrets
        self._methods = frozenset(methods)

    def identity(self, request: HTTPServerRequest) -> KernelIdentity | None:
        """Return the identity of a kernel's request; None: Jupyter authenticates it."""
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() not in {"token", "bearer"} or request.method not in self._methods:
            return None
        user = self._secrets.user_of(secret.strip())
        return None if user is None else KernelIdentity(user)


def kernel_access_by_route(
    secrets: KernelSecrets | None,
) -> Mapping[str, Mapping[str, KernelAuthenticator]]:
    """Return extra handler arguments by route; none without ``secrets``."""
    if secrets is None:
        return {}
    return {
        route: {"authenticator": KernelAuthenticator(secrets, methods)}
        for route, methods in OPEN.items()
    }


def refuse_privilege_escalation(command: BaseModel) -> None:
    """Raise ``PolicyRefusal`` for a command that would give a kernel more rights."""
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
    """Raise ``PolicyRefusal`` for a frame about documents: only a browser's page has them open.

    A page that speaks for a document decides what the agent reads in it, and its edits need no
    approval.
    """
    if not isinstance(frame, Hello | Subscribe | Unsubscribe | MessageSend):
        raise PolicyRefusal(
            f"A frame {frame.type!r} cannot be sent by code in a kernel: it has no documents open."
        )
