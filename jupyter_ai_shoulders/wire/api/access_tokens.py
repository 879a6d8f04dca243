"""Access tokens of programs that use the MCP server (``access-tokens``)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from jupyter_ai_shoulders.wire.base import CommandModel, Timestamp, WireModel

AccessScope = Literal["read", "edit", "run", "files"]
"""``read``: notebooks, documents and kernels; ``edit``: change them; ``run``: run code;
``files``: list, read and change files (changes with ``edit`` only).
"""
ALL_SCOPES: tuple[AccessScope, ...] = ("read", "edit", "run", "files")

TokenName = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^\x00-\x1f]+$"
    ),
]


class AccessToken(WireModel):
    """A token as the settings show it; its secret is stored as a hash only."""

    id: str
    name: str
    """Names the program in conversations and in the audit."""
    scopes: tuple[AccessScope, ...]
    created_at: Timestamp
    last_used_at: Timestamp | None


class AccessTokenList(WireModel):
    """``GET access-tokens``."""

    enabled: bool
    """Whether the MCP server is switched on (``Shoulders.mcp_server``)."""
    install: str | None
    """The command that installs the missing extra; None when the server can run."""
    url_path: str
    """The server's path on this Jupyter server, with its base URL, such as ``/shoulders/mcp``."""
    tokens: tuple[AccessToken, ...]


class PostAccessToken(CommandModel):
    """``POST access-tokens``."""

    name: TokenName
    scopes: Annotated[tuple[AccessScope, ...], Field(min_length=1, max_length=4)]


class CreatedAccessToken(WireModel):
    """The answer to ``POST access-tokens``; ``DELETE access-tokens/{id}`` revokes it."""

    token: AccessToken
    secret: str
    """Shown once; the client sends it as ``Authorization: Bearer …``."""
