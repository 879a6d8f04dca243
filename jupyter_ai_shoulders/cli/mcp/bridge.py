"""Passes MCP messages between standard input and output and a running Jupyter server.

Called by ``cli.mcp.command``. The messages are not interpreted; requests of the newest protocol
version name it in their metadata, which HTTP repeats in headers (specification 2026-07-28,
"Streamable HTTP").
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Sequence
from typing import Any, cast

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.server.stdio import stdio_server
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import PROTOCOL_VERSION_META_KEY, ErrorData, JSONRPCError

from jupyter_ai_shoulders.cli.errors import CommandFailed
from jupyter_ai_shoulders.cli.exit_codes import ExitCode
from jupyter_ai_shoulders.cli.output import write_error
from jupyter_ai_shoulders.client.server_discovery import ServerAddress

PATH = "shoulders/mcp"
SCOPES_HEADER = "X-Shoulders-Scopes"
"""As in ``server.mcp.handlers``."""
CONNECT_SECONDS = 10.0
END_SECONDS = 2.0
"""How long a server may take to end the protocol session after the client has gone."""
MOST_WAITING = 1000
"""Messages read ahead: the client's end is noticed while the server does not take one."""
PARSE_ERROR = -32700


async def bridge(address: ServerAddress, scopes: Sequence[str] = ()) -> None:
    """Pass messages on until standard input closes; ``scopes`` narrow what the client may do.

    Raises ``CommandFailed`` (no access).
    """
    url = f"{address.url}{PATH}"
    headers = {"Authorization": f"Bearer {address.token}"} if address.token else {}
    headers |= {SCOPES_HEADER: ",".join(scopes)} if scopes else {}
    transport = httpx2.AsyncHTTPTransport(uds=address.socket) if address.socket else None
    timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)
    async with httpx2.AsyncClient(
        headers=headers, transport=transport, timeout=timeout, trust_env=False
    ) as http:
        await _check_access(http, url)
        with anyio.CancelScope() as scope:
            async with (
                stdio_server() as (client_in, client_out),
                streamable_http_client(url, http_client=http) as (server_in, server_out),
                anyio.create_task_group() as group,
            ):
                group.start_soon(_pass, server_in, client_out)
                into, waiting = anyio.create_memory_object_stream[Any](MOST_WAITING)
                group.start_soon(_pass_to_server, waiting, client_out, server_out)
                async for item in client_in:
                    await into.send(item)
                scope.deadline = anyio.current_time() + END_SECONDS
                group.cancel_scope.cancel()


async def _check_access(http: httpx2.AsyncClient, url: str) -> None:
    """Raise ``CommandFailed`` with the server's reason unless it takes our token."""
    try:
        answer = await http.delete(url)  # ends no session, and starts none
    except httpx2.HTTPError as error:
        raise CommandFailed(f"{url} cannot be reached: {error}", ExitCode.ERROR) from error
    if answer.status_code in {401, 403, 404, 501}:
        raise CommandFailed(
            f"{url} answers {answer.status_code}: {_reason(answer)}", ExitCode.ERROR
        )


def _reason(answer: httpx2.Response) -> str:
    try:
        error: Any = answer.json()["error"]
        return f"{error['message']} {error.get('hint') or ''}".strip()
    except (ValueError, KeyError, TypeError):
        return answer.reason_phrase


async def _pass_to_server(client_in: Any, client_out: Any, server_out: Any) -> None:
    async for item in client_in:
        if isinstance(item, Exception):
            write_error(f"jupyter shoulders mcp: not a message: {item}\n")
            error = ErrorData(code=PARSE_ERROR, message="The line is not a message of MCP.")
            await client_out.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=error)))
        else:
            await server_out.send(with_headers(item))


async def _pass(source: AsyncIterable[Any], target: Any) -> None:
    async for item in source:
        if isinstance(item, Exception):
            write_error(f"jupyter shoulders mcp: {item}\n")
        else:
            await target.send(SessionMessage(item.message))


def with_headers(item: SessionMessage) -> SessionMessage:
    """Return the message with the headers that its protocol version needs."""
    params = cast("dict[str, Any]", getattr(item.message, "params", None) or {})
    meta = cast("dict[str, Any]", params.get("_meta") or {})
    version = meta.get(PROTOCOL_VERSION_META_KEY)
    if not isinstance(version, str):
        return SessionMessage(item.message)
    method = str(getattr(item.message, "method", ""))
    headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: method}
    name = params.get(NAME_BEARING_METHODS.get(method, ""))
    if isinstance(name, str):
        headers[MCP_NAME_HEADER] = encode_header_value(name)
    return SessionMessage(item.message, metadata=ClientMessageMetadata(headers=headers))
