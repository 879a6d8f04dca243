"""Tells embedding models from chat models; used by the catalogue and the lists of models.

An entry of the catalogue is an embedding model by its role. Without roles its name decides, because
most servers list only names.
"""

from __future__ import annotations

import re

EMBEDDING = "embedding"
"""The role of embedding models, and the capability under which Ollama lists them."""

_NAMES = re.compile(r"embed|(^|[/_-])(bge|gte|e5|all-minilm|paraphrase)-", re.IGNORECASE)
"""Most names have the word (``nomic-embed-text``, ``text-embedding-3-small``, ``embeddinggemma``);
the others are families of the sentence-transformers library and of MTEB's leaderboard.
"""


def is_embedding_name(model: str) -> bool:
    """Return whether a model's name is that of an embedding model."""
    return _NAMES.search(model) is not None
