"""The lines of an agent's standard output that are messages, with a bound on their length.

Made by ``acp_client.connection`` for the SDK, which joins lines of any length, stops at JSON that
is no object, and logs each line that is no JSON with a traceback.
"""

from __future__ import annotations

import asyncio
import json
import logging

from pydantic_core import from_json

_log = logging.getLogger(__name__)
_SHOWN = 200


class MessageLines(asyncio.StreamReader):
    """The part of a stream reader that the SDK uses."""

    def __init__(self, reader: asyncio.StreamReader, title: str) -> None:
        super().__init__()
        self._reader = reader
        self._title = title
        self._other_lines = 0
        self.is_too_long = False
        """Whether a message was longer than the reader's limit, so that nothing more is read."""

    async def readuntil(self, separator: bytes | str = b"\n") -> bytes:  # pyright: ignore[reportIncompatibleMethodOverride]: typeshed differs between versions of Python
        """Return the next message; raises ``IncompleteReadError`` at the end, ``ValueError``."""
        while True:
            try:
                line = await self._reader.readuntil(separator)  # pyright: ignore[reportArgumentType]: as above
            except asyncio.LimitOverrunError as error:
                self.is_too_long = True
                raise ValueError("a message is too long") from error
            if _is_object(line):
                return line
            self._pass_over(line)

    def _pass_over(self, line: bytes) -> None:
        self._other_lines += 1
        if self._other_lines == 1 and line.strip():
            shown = line[:_SHOWN].decode("utf-8", "replace").strip()
            _log.warning("%s printed a line that is no message: %s", self._title, shown)


def _is_object(line: bytes) -> bool:
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        from_json(line)  # the fast parser, which refuses halves of surrogate pairs
    except ValueError:
        try:
            json.loads(line)
        except (ValueError, RecursionError):
            return False
    return True
