"""Imports the packages of the extras ``search`` and ``qdrant`` on first use.

Used by the vector stores. Neither is needed to search by words.
"""

from __future__ import annotations

import importlib
from typing import Any

from jupyter_ai_shoulders.retrieval.ports import VectorStoreUnavailable


def edge_engine() -> Any:
    """Return the module of Qdrant's engine. Raises ``VectorStoreUnavailable``. Blocks."""
    return _imported("qdrant_edge", "qdrant-edge-py", "search")


def qdrant_client() -> Any:
    """Return the module of Qdrant's client. Raises ``VectorStoreUnavailable``. Blocks for 1 s."""
    return _imported("qdrant_client", "qdrant-client", "qdrant")


def _imported(module: str, package: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise VectorStoreUnavailable(
            f"Search by meaning needs the package {package}, which cannot be imported: {error}",
            hint=f'Install it: pip install "jupyter-ai-shoulders[{extra}]".',
        ) from error
