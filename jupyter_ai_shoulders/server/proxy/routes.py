"""The routes below ``{base_url}shoulders/proxy/``, imported on the first request."""

from __future__ import annotations

from jupyter_ai_shoulders.core.clock import RandomIds, SystemClock
from jupyter_ai_shoulders.proxy.anthropic.format import AnthropicFormat
from jupyter_ai_shoulders.proxy.google.format import GoogleFormat
from jupyter_ai_shoulders.proxy.openai_chat.format import OpenAIChatFormat
from jupyter_ai_shoulders.proxy.openai_responses.format import OpenAIResponsesFormat
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.server.auth.kernel_secrets import KernelSecrets
from jupyter_ai_shoulders.server.handlers.base import HostSource
from jupyter_ai_shoulders.server.lazy_routes import Route
from jupyter_ai_shoulders.server.proxy.google import (
    CALL,
    KEY_HEADER,
    GoogleCallHandler,
    GoogleModelHandler,
)
from jupyter_ai_shoulders.server.proxy.handlers import (
    AnswerHandler,
    CountHandler,
    InputTokensHandler,
    ModelHandler,
    ModelListHandler,
    UnknownProxyRouteHandler,
)
from jupyter_ai_shoulders.server.proxy.request_limiter import RequestLimiter


def proxy_routes(
    prefix: str, host_source: HostSource, secret: bytes, kernel_secrets: KernelSecrets
) -> list[Route]:
    """Return every route, as patterns that start with ``prefix``; the last one matches the rest.

    ``secret`` seals state that callers carry for us; the same secret opens it after a restart.
    """
    clock = SystemClock()
    sealer = StateSealer(secret)
    limiter = RequestLimiter(clock, RandomIds(), kernel_secrets)
    anthropic, chat = AnthropicFormat(sealer), OpenAIChatFormat(sealer, clock)
    google = GoogleFormat(sealer)
    responses = OpenAIResponsesFormat(sealer, clock)
    input_tokens = OpenAIResponsesFormat(sealer, clock, counting=True)
    counting = AnthropicFormat(sealer, counting=True)
    formats_by_header = {"anthropic-version": anthropic, KEY_HEADER: google}
    shared = {"host_source": host_source, "limiter": limiter}
    any_format = {**shared, "caller": chat, "formats_by_header": formats_by_header}
    return [
        (f"{prefix}v1/messages", AnswerHandler, {**shared, "caller": anthropic}),
        (f"{prefix}v1/messages/count_tokens", CountHandler, {**shared, "caller": counting}),
        (f"{prefix}v1/chat/completions", AnswerHandler, {**shared, "caller": chat}),
        (f"{prefix}v1/responses", AnswerHandler, {**shared, "caller": responses}),
        (
            f"{prefix}v1/responses/input_tokens",
            InputTokensHandler,
            {**shared, "caller": input_tokens},
        ),
        (f"{prefix}v1/models", ModelListHandler, any_format),
        (f"{prefix}v1(?:alpha|beta)/models", ModelListHandler, {**shared, "caller": google}),
        (f"{prefix}{CALL}", GoogleCallHandler, {**shared, "sealer": sealer}),
        (f"{prefix}v1/models/(.+)", ModelHandler, any_format),
        (
            f"{prefix}v1(?:alpha|beta)?/((?:models|tunedModels)/.+)",
            GoogleModelHandler,
            {**shared, "sealer": sealer},
        ),
        (f"{prefix}.*", UnknownProxyRouteHandler, any_format),
    ]
