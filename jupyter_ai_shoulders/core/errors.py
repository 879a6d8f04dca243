"""The exception tree; every error says what was tried and what to do.

::

    ShouldersError                 carries an ErrorInfo (code, message, hint, retryable, …)
    ├── InvalidRequest             400: the caller's request makes no sense
    ├── NotFound                   404: no such session, document, model …
    ├── Conflict                   409: true when asked, not true any more
    ├── TooLarge                   413
    ├── PolicyRefusal              422: a rule, a mode or the budget forbids it
    ├── ProviderError              502 (429 for rate limits): the model's side failed
    ├── StateUnavailable           503: the state directory cannot be used
    └── InvalidNotebook            400: the file is not a notebook, or not a valid one
"""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo


class ShouldersError(Exception):
    """Base of all errors shown to users; ``info`` is sent to clients."""

    default_code: ErrorCode = "internal"

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode | None = None,
        hint: str | None = None,
        retryable: bool = False,
        **details: Any,
    ) -> None:
        super().__init__(message)
        self.info = ErrorInfo(
            code=code or self.default_code,
            message=message,
            hint=hint,
            retryable=retryable,
            details=details or None,
        )


class InvalidRequest(ShouldersError):
    """The caller's request makes no sense."""

    default_code = "invalid_request"


class NotFound(ShouldersError):
    """The thing named does not exist."""

    default_code = "not_found"


class Conflict(ShouldersError):
    """The request was valid earlier, but the state has changed since."""

    default_code = "conflict"


class TooLarge(ShouldersError):
    """More was sent than is accepted."""

    default_code = "too_large"


class PolicyRefusal(ShouldersError):
    """A rule, a mode or the budget forbids it."""

    default_code = "denied"


class StateUnavailable(ShouldersError):
    """The state directory cannot be read or written."""

    default_code = "state_unavailable"


class InvalidNotebook(ShouldersError):
    """The file is not a valid notebook; it is never rewritten."""

    default_code = "invalid_notebook"


class ProviderError(ShouldersError):
    """A provider refused, failed or violated the protocol.

    ``status`` is the HTTP status (None without a response), ``retry_after_ms`` the wait requested
    by the provider, ``retryable`` whether a retry makes sense.
    """

    default_code = "provider_error"

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode | None = None,
        hint: str | None = None,
        retryable: bool = False,
        provider: str | None = None,
        model: str | None = None,
        status: int | None = None,
        request_id: str | None = None,
        retry_after_ms: int | None = None,
    ) -> None:
        super().__init__(message, code=code, hint=hint, retryable=retryable)
        self.status = status
        self.retry_after_ms = retry_after_ms
        self.info = self.info.model_copy(
            update={
                "provider": provider,
                "model": model,
                "request_id": request_id,
                "details": None if status is None else {"status": status},
            }
        )
