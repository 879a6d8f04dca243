"""The server's log contains no keys."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

import pytest

from jupyter_ai_shoulders.core.redaction.redactor import MASK, Redactor
from jupyter_ai_shoulders.server.adapters.log_redaction import LogRedaction, log_handlers

KEY = "live-key-canary-0123456789"


@pytest.fixture
def written() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def logger(written: io.StringIO) -> Iterator[logging.Logger]:
    made = logging.getLogger("test_log_redaction")
    handler = logging.StreamHandler(written)
    made.addHandler(handler)
    yield made
    made.removeHandler(handler)


def test_keys_in_arguments_and_tracebacks_are_masked(
    logger: logging.Logger, written: io.StringIO
) -> None:
    redaction = LogRedaction(log_handlers(logger), Redactor([KEY]).redact)
    logger.warning("It says %s, %d times", KEY, 2)
    try:
        raise ValueError(KEY)
    except ValueError:
        logger.exception("That failed")
    redaction.close()
    text = written.getvalue()
    assert f"It says {MASK}, 2 times" in text
    assert f"ValueError: {MASK}" in text
    assert KEY not in text


def test_handlers_are_left_as_they_were(logger: logging.Logger, written: io.StringIO) -> None:
    LogRedaction(log_handlers(logger), Redactor([KEY]).redact).close()
    logger.warning("It says %s", KEY)
    assert KEY in written.getvalue()
