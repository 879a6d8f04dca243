"""Takes secrets out of the server's log lines. Installed by ``server.extension_services``."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

_FORMATTER = logging.Formatter()
"""Writes tracebacks."""


class RedactingFilter(logging.Filter):
    """Masks secrets in the text and the traceback of a record, before a handler formats it."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._redact = redact

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record where it holds a secret; every record passes."""
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
    """The filter on the handlers that write the log, until it is closed."""

    def __init__(self, handlers: Iterable[logging.Handler], redact: Callable[[str], str]) -> None:
        self._handlers = tuple(handlers)
        self._filter = RedactingFilter(redact)
        for handler in self._handlers:
            handler.addFilter(self._filter)

    def close(self) -> None:
        """Leave the handlers as they were."""
        for handler in self._handlers:
            handler.removeFilter(self._filter)


def log_handlers(logger: logging.Logger) -> list[logging.Handler]:
    """Return the handlers that write what a logger and this package log."""
    found: list[logging.Handler] = []
    for start in (logger, logging.getLogger(__name__)):
        at: logging.Logger | None = start
        while at is not None:
            found += at.handlers
            at = at.parent if at.propagate else None
    if logging.lastResort is not None:
        found.append(logging.lastResort)
    return list(dict.fromkeys(found))
