"""An embedding model of a service behind the ``Embedder`` port; made by ``embedder_selector``."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.catalogue.specs import TokenFamily
from jupyter_ai_shoulders.core.embedding import EmbedderInfo, EmbeddingPurpose
from jupyter_ai_shoulders.core.errors import InvalidRequest, ProviderError
from jupyter_ai_shoulders.providers.formats.embedding import (
    EmbeddingRequest,
    EmbeddingService,
    Vector,
    cut_to_tokens,
    prompt_of,
)
from jupyter_ai_shoulders.providers.http.error_mapping import CalledService


class ServiceEmbedder:
    """One embedding model; its first answer decides the dimension of its vectors."""

    def __init__(
        self,
        info: EmbedderInfo,
        service: EmbeddingService,
        called: CalledService,
        *,
        family: TokenFamily,
        account: UsageAccount,
    ) -> None:
        """``called`` names the service in errors."""
        self._info = info
        self._service = service
        self._called = called
        self._family: TokenFamily = family
        self._account = account
        self._dimension: int | None = None

    @property
    def info(self) -> EmbedderInfo:
        """The model, where texts are sent, the price and the limits of a call."""
        return self._info

    async def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> Sequence[Vector]:
        """Return one vector for each text, see ``Embedder``.

        Texts are cut by an estimate of their tokens. If a text is still too long, the call is made
        once more with half as much of each; a refused call is not billed.
        """
        self._check(texts)
        if not texts:
            return ()
        limit = self._info.max_input_tokens
        try:
            return await self._embed(texts, purpose, limit)
        except ProviderError as error:
            if error.info.code != "context_overflow":
                raise
        return await self._embed(texts, purpose, limit // 2)

    async def _embed(
        self, texts: Sequence[str], purpose: EmbeddingPurpose, limit: int
    ) -> Sequence[Vector]:
        prompt = prompt_of(self._info.model, purpose)
        cut = tuple(cut_to_tokens(prompt + text, limit, self._family) for text in texts)
        reply = await self._service.embed(EmbeddingRequest(cut, purpose, self._account))
        self._check_dimension(len(reply.vectors[0]))
        return reply.vectors

    def _check(self, texts: Sequence[str]) -> None:
        if len(texts) > self._info.max_batch:
            raise InvalidRequest(
                f"{self._info.model} embeds at most {self._info.max_batch} texts in one call, not"
                f" {len(texts)}.",
                hint="Divide the texts among several calls.",
            )
        empty = next((number for number, text in enumerate(texts) if not text.strip()), None)
        if empty is not None:
            raise InvalidRequest(
                f"Text {empty} is empty and cannot be embedded.", hint="Leave empty texts out."
            )

    def _check_dimension(self, found: int) -> None:
        """Raise ``ProviderError`` where an answer has another dimension than the first one."""
        self._dimension = self._dimension or found
        if found != self._dimension:
            raise self._called.fail(
                "provider_protocol",
                f"vectors of {found} dimensions came, where there were {self._dimension} before",
                hint="The model behind this name may have been replaced: rebuild the search index.",
            )
