"""Builds the ``ProviderError`` of every failed call: which provider failed, how, and what to do.

Used by ``client`` (no answer), ``request`` (a broken answer) and the adapters' ``errors`` (a
refusal). Keys and bodies never appear: only the provider's own error sentence, redacted and
truncated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.http.retry_policy import (
    MAX_WAIT_MS,
    requested_wait_ms,
    should_retry,
)
from jupyter_ai_shoulders.wire.errors import ErrorCode
from jupyter_ai_shoulders.wire.ids import ProviderId

MAX_SENTENCE_LENGTH = 300
"""Characters of a provider's error sentence."""

REQUEST_ID_HEADERS = ("request-id", "x-request-id", "x-generation-id", "cf-ray")


@dataclass(frozen=True, slots=True)
class CalledService:
    """The called service, as messages name it. ``key`` says where its key is set."""

    id: ProviderId
    name: str
    model: str | None
    key: str
    redact: Callable[[str], str]
    now: Callable[[], datetime]
    hints: Mapping[ErrorCode, str] = field(default_factory=dict[ErrorCode, str])
    """Hints of this service, which take precedence over the common ``HINTS``."""

    def fail(
        self,
        code: ErrorCode,
        what: str,
        *,
        hint: str | None = None,
        retryable: bool = False,
        status: int | None = None,
        request_id: str | None = None,
        retry_after_ms: int | None = None,
    ) -> ProviderError:
        """Return the error that names provider, model, status and request id."""
        facts = [f"HTTP {status}" if status else "", f"request {request_id}" if request_id else ""]
        known = ", ".join(fact for fact in facts if fact)
        subject = f"{self.name}, {self.model}" if self.model else self.name
        return ProviderError(
            f"{subject}: {what}" + (f" ({known})" if known else ""),
            code=code,
            hint=hint or self._hint(code),
            retryable=retryable,
            provider=self.id,
            model=self.model,
            status=status,
            request_id=request_id,
            retry_after_ms=retry_after_ms,
        )

    def _hint(self, code: ErrorCode) -> str | None:
        template = self.hints.get(code) or HINTS.get(code)
        if template is None:
            return None
        return template.format(name=self.name, id=self.id, key=self.key, model=self.model or "")


HINTS: Mapping[ErrorCode, str] = {
    "no_key": "Set {key}, or store a key for {name} in the AI settings.",
    "authentication": "Check the key: {key}. A new one can be stored in the AI settings.",
    "billing": "Add credit to the account at {name}, or pick another model.",
    "quota_exhausted": "Raise the limit of the account at {name}, or pick another model.",
    "permission": "The key ({key}) may not do this; use another key or pick another model.",
    "model_not_found": 'Check "model" of this entry in models.json, or pick another model.',
    "rate_limited": "Wait a moment, or pick another model.",
    "overloaded": "Wait a moment, or pick another model.",
    "provider_error": "Try again. If this continues, pick another model.",
    "provider_timeout": (
        'Try again; for slow servers raise "idle_timeout" or "total_timeout" of the provider'
        ' "{id}" in models.json.'
    ),
    "provider_unreachable": (
        'Check the network, and "url" of the provider "{id}" in models.json if you set one.'
    ),
    "provider_protocol": 'Check "url" and "kind" of the provider "{id}" in models.json.',
    "stream_truncated": "Try again; a proxy between here and {name} may cut long answers.",
    "context_overflow": "Start a new conversation, or remove large attachments and outputs.",
    "too_large": "Remove images or large attachments.",
    "content_filtered": "Rephrase the request, or pick another model.",
    "bad_request_upstream": (
        "The provider rejected the request as it was built. Pick another model and report this."
    ),
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """The content of an error body or event; where a field is None, the HTTP status decides.

    ``status`` is the status that an error inside a stream implies.
    """

    code: ErrorCode | None = None
    sentence: str = ""
    status: int | None = None
    retryable: bool | None = None
    request_id: str | None = None
    retry_after_ms: int | None = None


_CODES: Mapping[int, ErrorCode] = {
    401: "authentication",
    402: "billing",
    403: "permission",
    404: "model_not_found",
    408: "provider_timeout",
    413: "too_large",
    429: "rate_limited",
    503: "overloaded",
    504: "provider_timeout",
    529: "overloaded",
}

_VAGUE: frozenset[ErrorCode | None] = frozenset({"provider_error", "bad_request_upstream"})
"""Codes of a body that are too vague to override the status."""

_SAID: Mapping[ErrorCode, str] = {
    "authentication": "the key was not accepted",
    "billing": "the account has no credit",
    "quota_exhausted": "the account's limit is reached",
    "permission": "access was refused",
    "model_not_found": "the model or the address does not exist there",
    "provider_timeout": "the provider timed out",
    "too_large": "the request is too large",
    "rate_limited": "too many requests",
    "overloaded": "the provider is overloaded",
    "context_overflow": "the conversation is longer than the model's window",
    "content_filtered": "the request was refused by a content policy",
    "bad_request_upstream": "the request was refused",
    "provider_error": "the provider failed",
}


def code_of_status(status: int) -> ErrorCode:
    """Return the code of an HTTP status, for bodies without a better one."""
    if status in _CODES:
        return _CODES[status]
    if 400 <= status < 500 and status != 409:
        return "bad_request_upstream"
    return "provider_error" if status >= 400 else "provider_protocol"


def refusal_error(
    service: CalledService, status: int, headers: Mapping[str, str], refusal: Refusal
) -> ProviderError:
    """Return the error for a refusal, or for an error event inside a stream."""
    status = refusal.status or status
    named = None if refusal.code in _VAGUE else refusal.code
    code = named or code_of_status(status)
    wait = requested_wait_ms(headers, service.now())
    wait = refusal.retry_after_ms if wait is None else wait
    too_long = wait is not None and wait > MAX_WAIT_MS
    retryable = should_retry(status, headers) if refusal.retryable is None else refusal.retryable
    return service.fail(
        code,
        _sentence(service, code, refusal.sentence),
        hint=_wait_hint(service, wait) if too_long and wait is not None else None,
        retryable=retryable and not too_long,
        status=status,
        request_id=refusal.request_id or request_id(headers),
        retry_after_ms=wait,
    )


def request_id(headers: Mapping[str, str]) -> str | None:
    """Return the provider's id of the call."""
    return next((headers[name] for name in REQUEST_ID_HEADERS if headers.get(name)), None)


def _sentence(service: CalledService, code: ErrorCode, sentence: str) -> str:
    said = _SAID.get(code, "the call failed")
    clean = " ".join(service.redact(sentence).split())
    if not clean or code == "authentication":  # vendors echo parts of wrong keys
        return said
    cut = clean if len(clean) <= MAX_SENTENCE_LENGTH else clean[: MAX_SENTENCE_LENGTH - 1] + "…"
    return f"{said}: {cut}"


def _wait_hint(service: CalledService, wait_ms: int) -> str:
    minutes = -(-wait_ms // 60_000)
    return f"{service.name} asks to wait {minutes} minutes; until then pick another model."
