"""Truncates long results to head and tail, with a handle to read the rest.

Used by ``engine.calls.batch_runner`` for every result and by ``engine.session.user_responses`` for
results users supply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.storage.base import Blobs
from jupyter_ai_shoulders.tools.truncation import (
    HANDLE_SHOWN,
    continuation_hint,
    fits_limits,
    truncate,
)
from jupyter_ai_shoulders.wire.ids import BlobHash
from jupyter_ai_shoulders.wire.parts import ResultContent, TextPart

Content = tuple[ResultContent, ...]


@dataclass(frozen=True, slots=True)
class OutputTruncator:
    """Stores long outputs; ``paged`` says whether the model has ``read_output``."""

    blobs: Blobs
    redactor: Redactor
    paged: bool

    def truncate(
        self, content: Sequence[ResultContent], kept: BlobHash | None = None
    ) -> tuple[Content, BlobHash | None]:
        """Return the content for the model, and the handle of the whole output if it was cut.

        The limits apply to all texts of a result together. ``kept`` is the handle of an output the
        tool stored itself, of which the content may be a part.
        """
        texts = [part.text for part in content if isinstance(part, TextPart)]
        own: BlobHash | None = None
        if not fits_limits("\n".join(texts)):
            whole = self.redactor.redact("\n".join(texts))
            own = self.blobs.put(whole.encode("utf-8", "surrogatepass"))
            named = own if self.paged and kept is None else ""
            texts = [truncate(whole, named)]
            others = (part for part in content if not isinstance(part, TextPart))
            content = (TextPart(text=texts[0]), *others)
        if self.paged and kept is not None and kept[:HANDLE_SHOWN] not in "".join(texts):
            note = f"[The whole output is kept; {continuation_hint(kept)}]"
            content = (*content, TextPart(text=note))
        return tuple(content), kept or own
