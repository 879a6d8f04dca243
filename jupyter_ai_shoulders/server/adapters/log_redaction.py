"""Redacts secrets in the server's log. Installed by ``server.extension_services``."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

_FORMATTER = logging.Formatter()
"""Formats tracebacks."""


class RedactingFilter(logging.Filter):
    """Masks secrets in the text and the traceback of a record, before a handler formats it."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._redact = redact

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact the record if it holds a secret; every record passes."""
        said = record.getMessage()
        clean = self._redact(said)
        if clean != said:
            record.msg, record.args = clean, ()
        if record.exc_info and not record.exc_text:
            record.exc_text = _FORMATTER.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self._redact(record.exc_text)
        return True


class LogRedaction:
    """Installs the filter on the handlers that write the log, until closed."""

    def __init__(self, handlers: Iterable[logging.Handler], redact: Callable[[str], str]) -> None:
        self._handlers = tuple(handlers)
        self._filter = RedactingFilter(redact)
        for handler in self._handlers:
            handler.addFilter(self._filter)

    def close(self) -> None:
        """Remove the filter from the handlers."""
        for handler in self._handlers:
            handler.removeFilter(self._filter)


def log_handlers(logger: logging.Logger) -> list[logging.Handler]:
    """Return the handlers that write the messages of a logger and of this package."""
    found: list[logging.Handler] = []
    for start in (logger, logging.getLogger(__name__)):
        at: logging.Logger | None = start
        while at is not None:
            found += at.handlers
            at = at.parent if at.propagate else None
    if logging.lastResort is not None:
        found.append(logging.lastResort)
    return list(dict.fromkeys(found))
