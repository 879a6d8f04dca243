"""Runs the agent for an editor on standard input and output.

Called by ``cli.dispatch``. Nothing but the protocol may be written to standard output, so it gets a
descriptor of its own and everything else that prints, kernels included, goes to standard error.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from importlib.util import find_spec

from jupyter_ai_shoulders.cli.backend_selection import BackendOptions
from jupyter_ai_shoulders.cli.errors import CommandFailed
from jupyter_ai_shoulders.cli.exit_codes import ExitCode

INSTALL = 'pip install "jupyter-ai-shoulders[acp]"'
LINE_BYTES = 64 * 2**20
"""The longest message of an editor; images are part of it."""

_log = logging.getLogger(__name__)


def serve_editor(wanted: BackendOptions) -> ExitCode:
    """Answer an editor until it closes standard input. Raises ``CommandFailed``."""
    if find_spec("acp") is None:
        raise CommandFailed(
            f"The package agent-client-protocol is missing. Install it: {INSTALL}", ExitCode.ERROR
        )
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    protocol = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    asyncio.run(_serve(wanted, protocol))
    return ExitCode.OK


async def _serve(wanted: BackendOptions, protocol: int) -> None:
    from acp.agent.connection import AgentSideConnection

    from jupyter_ai_shoulders.cli.acp.editor_agent import EditorAgent

    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader(limit=LINE_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    reader = asyncio.StreamReader(limit=LINE_BYTES)
    messages = asyncio.create_task(_pass_messages(lines, reader))
    transport, flow = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(protocol, "wb", buffering=0)
    )
    writer = asyncio.StreamWriter(transport, flow, reader, loop)
    agent = EditorAgent(wanted)
    connection = AgentSideConnection(agent, writer, reader, listening=False)
    try:
        await connection.listen()
    finally:
        messages.cancel()
        await agent.aclose()
        writer.close()


async def _pass_messages(lines: asyncio.StreamReader, reader: asyncio.StreamReader) -> None:
    """Pass on the lines that are messages; the SDK ends at other JSON values."""
    try:
        while line := await lines.readline():
            if _is_message(line):
                reader.feed_data(line)
            elif line.strip():
                _log.warning("Standard input has a line that is no message: %.200r", line)
    except ValueError:
        _log.error("Standard input has a line longer than %d bytes.", LINE_BYTES)
    finally:
        reader.feed_eof()


def _is_message(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
