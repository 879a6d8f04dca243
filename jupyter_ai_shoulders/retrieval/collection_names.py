"""Names of the collections of vectors: one for each embedder and way to split documents.

Used by ``meaning_index``, and by ``vectors.collections`` to tell them from those of other programs.
"""

from __future__ import annotations

import hashlib
import re

CHUNKS_VERSION = 1
"""Raised when documents are split in another way: vectors of other texts are of no use."""
_NAME = re.compile(r"shoulders-[a-z0-9-]{0,48}-[0-9a-f]{8}-\d+")


def collection_name(embedder_id: str) -> str:
    """Return the name of an embedder's collection: a folder, or a collection of a server."""
    digest = hashlib.sha256(embedder_id.encode()).hexdigest()[:8]
    words = re.sub(r"[^a-z0-9]+", "-", embedder_id.lower()).strip("-")[:48]
    return f"shoulders-{words}-{digest}-{CHUNKS_VERSION}"


def is_collection_name(name: str) -> bool:
    """Return whether ``collection_name`` makes such names, in this version or another one."""
    return _NAME.fullmatch(name) is not None
