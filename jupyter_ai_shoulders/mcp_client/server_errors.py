"""Turns errors of the SDK and of transports into errors that say what to do. Loads the SDK."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import httpx2
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    ShouldersError,
    StateUnavailable,
    TooLarge,
)
from jupyter_ai_shoulders.guard.network.origin_transport import BodyTooLarge, ForbiddenAddress
from jupyter_ai_shoulders.wire.hidden_characters import visible

_MESSAGE_LENGTH = 1_000
_NO_ANSWERS = frozenset({CONNECTION_CLOSED, PARSE_ERROR})
_UNREACHABLE = (ForbiddenAddress, httpx2.HTTPError, MCPError, OSError)


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors of a group, or the error."""
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from leaves(inner)
    else:
        yield error


def is_lost(error: BaseException) -> bool:
    """Return whether the connection cannot be used after this error."""
    return any(
        isinstance(leaf, httpx2.TransportError | OSError)
        or (isinstance(leaf, MCPError) and leaf.code == CONNECTION_CLOSED)
        or (isinstance(leaf, MCPError) and "session terminated" in leaf.message.lower())
        for leaf in leaves(error)
    )


def time_limit_error(server: str, action: str, seconds: float) -> ShouldersError:
    """Return the error for an exceeded time limit."""
    return Conflict(
        f"The MCP server {server} did not finish {action} within {seconds:g} s.",
        code="timeout",
        hint="Try again, or restart the server in the settings under MCP servers.",
        retryable=True,
    )


def lost_error(server: str, action: str, reason: str) -> ShouldersError:
    """Return the error for a connection that ended during an action."""
    return StateUnavailable(
        f"The MCP server {server} could not be reached for {action}: {_short(reason)}",
        hint="See its last lines in the settings under MCP servers.",
        retryable=True,
    )


def server_error(server: str, action: str, error: BaseException) -> ShouldersError:
    """Return what happened, with what to do."""
    first = next(leaves(error))
    if isinstance(first, ShouldersError):
        return first
    if isinstance(first, BodyTooLarge):
        return TooLarge(f"The MCP server {server} answered too much: {first}")
    if isinstance(first, MCPError) and first.code not in _NO_ANSWERS:
        return InvalidRequest(f"The MCP server {server} refused {action}: {_short(first.message)}")
    is_unreadable = isinstance(first, MCPError) and first.code == PARSE_ERROR
    if not is_unreadable and isinstance(first, _UNREACHABLE):
        return lost_error(server, action, str(first) or type(first).__name__)
    return InvalidRequest(
        f"The MCP server {server} sent an answer that is not valid, for {action}: "
        f"{_short(str(first) or type(first).__name__)}"
    )


def _short(text: str) -> str:
    shown = visible(text[: _MESSAGE_LENGTH + 1])
    return shown if len(shown) <= _MESSAGE_LENGTH else f"{shown[:_MESSAGE_LENGTH]}…"
