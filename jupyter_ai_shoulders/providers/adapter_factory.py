"""Creates the adapters of a wire format, importing them on first use; called by ``registry``."""

from __future__ import annotations

from importlib import import_module

from jupyter_ai_shoulders.core.catalogue.specs import ProviderKind
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.providers.base import Provider
from jupyter_ai_shoulders.providers.formats.embedding import (
    EmbeddingService,
    HttpEmbeddingService,
)
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint


def make_provider(endpoint: Endpoint) -> Provider:
    """Return the adapter for the endpoint's kind of provider."""
    match endpoint.provider.kind:
        case "anthropic":
            from jupyter_ai_shoulders.providers.anthropic.provider import AnthropicProvider

            return AnthropicProvider(endpoint)
        case "openai_chat":
            from jupyter_ai_shoulders.providers.openai_chat.provider import OpenAIChatProvider

            return OpenAIChatProvider(endpoint)
        case "openai_responses":
            from jupyter_ai_shoulders.providers.openai_responses.provider import (
                OpenAIResponsesProvider,
            )

            return OpenAIResponsesProvider(endpoint)
        case "demo":
            from jupyter_ai_shoulders.providers.demo.provider import DemoProvider

            return DemoProvider()
        case "google":
            from jupyter_ai_shoulders.providers.google.provider import GoogleProvider

            return GoogleProvider(endpoint)
        case "ollama":
            from jupyter_ai_shoulders.providers.ollama.provider import OllamaProvider

            return OllamaProvider(endpoint)


def make_embedding_service(endpoint: Endpoint) -> EmbeddingService:
    """Return the adapter for embeddings. Raises ``InvalidRequest`` for a format without them."""
    match endpoint.provider.kind:
        case "openai_chat" | "openai_responses":
            from jupyter_ai_shoulders.providers.openai_chat.embedding import OPENAI_EMBEDDINGS

            return HttpEmbeddingService(endpoint, OPENAI_EMBEDDINGS)
        case "google":
            from jupyter_ai_shoulders.providers.google.embedding import GOOGLE_EMBEDDINGS

            return HttpEmbeddingService(endpoint, GOOGLE_EMBEDDINGS)
        case "ollama":
            from jupyter_ai_shoulders.providers.ollama.embedding import (
                OLLAMA_EMBEDDINGS,
                with_ollama_hints,
            )

            return HttpEmbeddingService(with_ollama_hints(endpoint), OLLAMA_EMBEDDINGS)
        case "anthropic" | "demo":
            raise InvalidRequest(
                f"{endpoint.provider.name} has no embedding models.",
                hint="Pick an embedding model of another provider.",
            )


def load_adapter(kind: ProviderKind) -> None:
    """Import the adapter. Slow the first time: call it in a thread."""
    import_module(f"jupyter_ai_shoulders.providers.{kind}.provider")
