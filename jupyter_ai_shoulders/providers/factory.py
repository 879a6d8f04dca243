"""Which wire formats have an adapter, and how one is made; called by ``registry``.

Adapters are imported when the first model of their kind is asked for.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.catalogue import ProviderKind
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.providers.base import Provider
from jupyter_ai_shoulders.providers.target import Target

IMPLEMENTED: frozenset[ProviderKind] = frozenset(
    {"anthropic", "openai_responses", "openai_chat", "google", "demo"}
)


def make_provider(target: Target) -> Provider:
    """Return the adapter for the target's kind.

    Raises ``InvalidRequest`` (unknown_model) for a kind that has none yet.
    """
    match target.provider.kind:
        case "anthropic":
            from jupyter_ai_shoulders.providers.anthropic.provider import AnthropicProvider

            return AnthropicProvider(target)
        case "openai_chat":
            from jupyter_ai_shoulders.providers.openai_chat.provider import OpenAIChatProvider

            return OpenAIChatProvider(target)
        case "openai_responses":
            from jupyter_ai_shoulders.providers.openai_responses.provider import (
                OpenAIResponsesProvider,
            )

            return OpenAIResponsesProvider(target)
        case "demo":
            from jupyter_ai_shoulders.providers.demo.provider import DemoProvider

            return DemoProvider()
        case "google":
            from jupyter_ai_shoulders.providers.google.provider import GoogleProvider

            return GoogleProvider(target)
        case "ollama":
            raise unsupported(target.provider.kind)


def unsupported(kind: ProviderKind) -> InvalidRequest:
    """Return the error for a kind that has no adapter yet."""
    return InvalidRequest(
        f"This version cannot speak to providers of kind {kind!r} yet.",
        code="unknown_model",
        hint='Use the kind "openai_chat" where the server offers that format too.',
    )
