"""Which HTTP status an error code becomes (chapter 02, "Errors").

Used by ``server.handlers.base``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidNotebook,
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    ProviderError,
    ShouldersError,
    StateUnavailable,
    TooLarge,
)
from jupyter_ai_shoulders.wire.errors import ErrorCode

_BY_CODE: dict[ErrorCode, int] = {
    "unauthorized": 401,
    "forbidden": 403,
    "quarantined": 409,
    "no_model": 422,
    "no_key": 422,
    "budget_exhausted": 422,
    "rate_limited": 429,
    "quota_exhausted": 429,
}
_BY_CLASS: tuple[tuple[type[ShouldersError], int], ...] = (
    (InvalidRequest, 400),
    (InvalidNotebook, 400),
    (NotFound, 404),
    (Conflict, 409),
    (TooLarge, 413),
    (PolicyRefusal, 422),
    (ProviderError, 502),
    (StateUnavailable, 503),
)
_BY_STATUS: dict[int, ErrorCode] = {
    400: "invalid_request",
    401: "unauthorized",
    403: "forbidden",
    404: "unknown_route",
    405: "unknown_route",
    413: "too_large",
}


def status_of(error: ShouldersError) -> int:
    """Return the HTTP status that says what the error says."""
    code = _BY_CODE.get(error.info.code)
    if code is not None:
        return code
    return next((status for kind, status in _BY_CLASS if isinstance(error, kind)), 500)


def code_of(status: int) -> ErrorCode:
    """Return the error code for a status that Jupyter or tornado chose."""
    return _BY_STATUS.get(status, "internal")
