"""The ``Embedder`` port, and the names of embedding models."""

from jupyter_ai_shoulders.core.embedding.embedder import (
    NO_EMBEDDER_HINT,
    SUGGESTED_MODEL,
    Embedder,
    EmbedderInfo,
    EmbeddingPurpose,
)

__all__ = [
    "NO_EMBEDDER_HINT",
    "SUGGESTED_MODEL",
    "Embedder",
    "EmbedderInfo",
    "EmbeddingPurpose",
]
