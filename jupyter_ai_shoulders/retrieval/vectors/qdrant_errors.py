"""Turns what Qdrant's client raises into ``VectorStoreUnavailable``. Used by ``qdrant_store``.

The client (``qdrant-client`` 1.20, ``http/api_client.py``) raises ``UnexpectedResponse`` for a
status that is not 200 to 202, ``ResponseHandlingException`` around errors of httpx and pydantic,
``ResourceExhaustedResponse`` for 429 with a wait, and plain ``ValueError`` or ``AssertionError``
for bodies that are not JSON or lack the result.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

from jupyter_ai_shoulders.retrieval.ports import VectorStoreUnavailable
from jupyter_ai_shoulders.retrieval.vectors.qdrant_points import UnfinishedUpdate

URL_SETTING = "Shoulders.qdrant_url"
KEY_SETTING = "Shoulders.qdrant_api_key"
_LONGEST_REASON = 300
_RETRYABLE = frozenset({408, 429})
ANSWER_ERRORS = (ValueError, AssertionError)


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status of an error of the client, if it has one."""
    if type(error).__name__ == "ResourceExhaustedResponse":
        return 429
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def unavailable(doing: str, url: str, error: BaseException) -> VectorStoreUnavailable:
    """Return the error for a failed request; ``doing`` follows "could not"."""
    failed = f"The Qdrant server at {url} could not {doing}"
    status = status_of(error)
    source: Any = getattr(error, "source", error)
    if status is not None:
        return _refused(failed, status, error)
    if isinstance(error, TimeoutError) or "Timeout" in type(source).__name__:
        return _unreachable(failed, "it did not answer in time")
    if isinstance(error, UnfinishedUpdate):
        return _unreachable(failed, str(error))
    if isinstance(source, ANSWER_ERRORS):
        return VectorStoreUnavailable(
            f"{failed}: its answer is not Qdrant's.",
            hint=f"Check {URL_SETTING}, and whether the versions of server and client go together.",
        )
    return _unreachable(failed, str(source) or type(source).__name__)


def _unreachable(failed: str, reason: str) -> VectorStoreUnavailable:
    return VectorStoreUnavailable(
        f"{failed}: {reason[:_LONGEST_REASON]}.",
        hint=f"Check that it runs and that {URL_SETTING} is its address.",
        retryable=True,
    )


def _refused(failed: str, status: int, error: BaseException) -> VectorStoreUnavailable:
    if status in {401, 403}:
        hint = f"Set {KEY_SETTING} to a key that may read and write the collection."
        return VectorStoreUnavailable(f"{failed}: it refuses the key.", hint=hint, status=status)
    retryable = status >= 500 or status in _RETRYABLE
    hint = "Try again later." if retryable else f"Check {URL_SETTING} and the server's limits."
    return VectorStoreUnavailable(
        f"{failed}: {_reason(error)} (HTTP {status}).",
        hint=hint,
        retryable=retryable,
        status=status,
    )


def _reason(error: BaseException) -> str:
    """Return the server's message: ``{"status": {"error": …}}``, or the start of another body."""
    content = getattr(error, "content", None)
    if not isinstance(content, bytes):
        return str(error)[:_LONGEST_REASON]
    text = content.decode("utf-8", "replace")
    with contextlib.suppress(ValueError, LookupError, TypeError):
        text = str(json.loads(text)["status"]["error"])
    return " ".join(text.split())[:_LONGEST_REASON] or "it gave no reason"
