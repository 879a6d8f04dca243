"""How the adapter of a wire format is made; called by ``registry``.

Adapters are imported when the first model of their kind is asked for.
"""

from __future__ import annotations

from importlib import import_module

from jupyter_ai_shoulders.core.catalogue.specs import ProviderKind
from jupyter_ai_shoulders.providers.base import Provider
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint


def make_provider(target: Endpoint) -> Provider:
    """Return the adapter for the target's kind."""
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
            from jupyter_ai_shoulders.providers.ollama.provider import OllamaProvider

            return OllamaProvider(target)


def load_adapter(kind: ProviderKind) -> None:
    """Import the adapter, which takes a while the first time: call it in a thread."""
    import_module(f"jupyter_ai_shoulders.providers.{kind}.provider")
