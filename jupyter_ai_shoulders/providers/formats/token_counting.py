"""Asks a service to count a request's tokens; used by adapters whose service can.

The outcome does not affect the provider's health.
"""

from __future__ import annotations

import dataclasses

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.request import ReadRefusal, fetch_json
from jupyter_ai_shoulders.providers.http.upstream import HttpRequest
from jupyter_ai_shoulders.providers.vendor_json import as_count

ACCEPT_JSON = {"accept": "application/json"}

_UNSUPPORTED_STATUSES = frozenset({404, 405, 501})
"""Statuses of gateways without token counting; an unknown model is 404 as well."""


async def request_token_count(
    endpoint: Endpoint, call: HttpRequest, read_refusal: ReadRefusal, field_name: str
) -> int | None:
    """Send the call and return the number under ``field_name``; None where counting is unsupported.

    Raises ``ProviderError``.
    """
    quiet = dataclasses.replace(endpoint, report=_ignore)
    try:
        answer = await fetch_json(quiet, call, read_refusal)
    except ProviderError as error:
        if error.status in _UNSUPPORTED_STATUSES:
            return None
        raise
    return as_count(answer.get(field_name))


def _ignore(_error: ProviderError | None) -> None:
    """Discard the outcome of the call."""
