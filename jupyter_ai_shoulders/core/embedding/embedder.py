"""The ``Embedder`` port: texts in, unit vectors out.

Implemented by ``providers.service_embedder``, chosen by ``providers.registry``; used by the search
index. See docs/design/providers.md#embeddings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from jupyter_ai_shoulders.wire.ids import ProviderId

EmbeddingPurpose = Literal["document", "query"]
"""Whether a text is searched in or searched for; many models embed the two differently."""

SUGGESTED_MODEL = "nomic-embed-text"
"""The embedding model of Ollama that is suggested where there is none: 274 MB, 768 dimensions."""
NO_EMBEDDER_HINT = (
    f"For search by meaning on this machine, start Ollama and run `ollama pull {SUGGESTED_MODEL}`."
)
"""What to do where no embedder can be used."""


@dataclass(frozen=True, slots=True)
class EmbedderInfo:
    """An embedder: its model, where texts are sent, the price and the limits of a call."""

    id: str
    """Identifies the space of its vectors, ``PROVIDER/MODEL``; part of a collection's name."""
    model: str
    """The provider's name of the model."""
    provider: ProviderId
    host: str
    """The host that texts are sent to, with its port where the address has one."""
    is_local: bool
    """Whether the host is this machine, so that sending texts needs no consent."""
    price_micro_usd_per_mtok: int | None
    """Micro-dollars per million input tokens; None when unknown, 0 on this machine."""
    max_batch: int
    """Texts per call."""
    max_input_tokens: int
    """Tokens per text; longer texts are cut."""


class Embedder(Protocol):
    """Turns texts into vectors; safe for concurrent calls."""

    @property
    def info(self) -> EmbedderInfo:
        """The model, where texts are sent, the price and the limits of a call."""
        ...

    async def embed(
        self, texts: Sequence[str], purpose: EmbeddingPurpose
    ) -> Sequence[Sequence[float]]:
        """Return one vector of length 1 for each text, in order; all have the same dimension.

        Makes one call. Retries are left to the caller. Raises ``InvalidRequest`` (an empty text,
        too many texts), ``PolicyRefusal`` (budget, mode; nothing was sent) and ``ProviderError``;
        an answer that does not fit the texts is ``provider_protocol``.
        """
        ...
