"""Keeps the SDK from filling the log of Jupyter: it logs each message that is not valid.

Used by ``mcp_client.connection``.
"""

from __future__ import annotations

import logging

LOGGERS = (
    "client",
    "mcp.client.sse",
    "mcp.client.streamable_http",
    "mcp.shared.jsonrpc_dispatcher",
)
"""Of the SDK; its session is named ``client``."""
MOST = 10
SECONDS = 60.0


class FewRecords(logging.Filter):
    """Passes ``MOST`` records within ``SECONDS``."""

    def __init__(self) -> None:
        super().__init__()
        self._began = 0.0
        self._count = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is logged."""
        if record.levelno < logging.WARNING:
            return True
        if record.created - self._began >= SECONDS:
            self._began, self._count = record.created, 0
        self._count += 1
        if self._count == MOST:
            record.msg = f"{record.msg} (further records within {SECONDS:.0f} s are left out)"
        return self._count <= MOST


def limit_sdk_logs() -> None:
    """Install the filters once."""
    for name in LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(known, FewRecords) for known in logger.filters):
            logger.addFilter(FewRecords())
