"""Reads Ollama's errors: one sentence, as a body or as a line in a stream."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.http.error_mapping import Refusal
from jupyter_ai_shoulders.providers.vendor_json import VendorObject, as_object, as_text
from jupyter_ai_shoulders.wire.errors import ErrorCode

HINTS: Mapping[ErrorCode, str] = {
    "model_not_found": "Run `ollama pull {model}` where Ollama runs, or pick another model.",
    "provider_unreachable": (
        'Start Ollama (`ollama serve`), or set "url" of the provider "{id}" in models.json.'
    ),
    "bad_request_upstream": (
        "`ollama show {model}` lists what the model can do: pick one that can do this, or correct"
        " its entry in models.json."
    ),
    "context_overflow": (
        'Start a new conversation, or raise "context_window" of the model in models.json, which'
        " Ollama is given as num_ctx."
    ),
}
NO_TOOLS = "does not support tools"
_WORDS: tuple[tuple[str, ErrorCode], ...] = (
    ("context length", "context_overflow"),
    ("context size", "context_overflow"),
    ("context window", "context_overflow"),
    ("does not support", "bad_request_upstream"),
    ("try pulling it", "model_not_found"),
)
_NEVER_HELPED = ("requires more system memory", "out of memory", "unable to load model")
"""Failures of the machine, which a retry does not cure."""


def read_refusal(status: int | None, body: VendorObject) -> Refusal:
    """Read an error; ``status`` is None for one inside an answer that began with 200."""
    sentence = as_text(body.get("error")) or as_text(as_object(body.get("error")).get("message"))
    lower = sentence.lower()
    code: ErrorCode | None = next((found for words, found in _WORDS if words in lower), None)
    final = code is not None or any(words in lower for words in _NEVER_HELPED)
    return Refusal(
        code=code,
        sentence=sentence,
        status=status or (400 if code is not None else 500),
        retryable=False if final else None,
    )


def without_tools(error: ProviderError) -> bool:
    """Return whether the model was refused because it cannot use tools; nothing was shown then."""
    return error.status == 400 and NO_TOOLS in error.info.message
