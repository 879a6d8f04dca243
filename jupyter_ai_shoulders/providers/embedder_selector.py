"""Finds or selects an embedding model, and makes its embedder; used by ``ModelRegistry``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.catalogue.prices import PriceTable
from jupyter_ai_shoulders.core.catalogue.specs import Catalogue, ModelSpec
from jupyter_ai_shoulders.core.catalogue.trust_items import url_host
from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.embedding import NO_EMBEDDER_HINT, Embedder, EmbedderInfo
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.providers.adapter_factory import make_embedding_service
from jupyter_ai_shoulders.providers.catalogue.embedder_selection import usable_embedders
from jupyter_ai_shoulders.providers.catalogue.listed_models import entry_for_unlisted
from jupyter_ai_shoulders.providers.catalogue.shipped_entries import ShippedCatalogue
from jupyter_ai_shoulders.providers.configured_providers import ConfiguredProviders
from jupyter_ai_shoulders.providers.formats.embedding import (
    MAX_BATCH,
    EmbeddingService,
    input_tokens,
)
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.loopback import is_loopback
from jupyter_ai_shoulders.providers.service_embedder import ServiceEmbedder
from jupyter_ai_shoulders.wire.ids import ModelId

MeteredEmbeddings = Callable[[ModelSpec, EmbeddingService], EmbeddingService]

_LATEST = ":latest"
"""Ollama's tag of a model that is named without one."""
_FREE = PriceTable(input=0, output=0, source="runs on this machine")


class EmbedderSelector:
    """Selects embedding models by the user's preferences; makes no network calls."""

    def __init__(
        self,
        providers: ConfiguredProviders,
        shipped: ShippedCatalogue,
        preferences: Callable[[], ModelPreferences],
        clock: Clock,
        *,
        metered: MeteredEmbeddings,
    ) -> None:
        """``metered`` puts the meter before each embedding model."""
        self._providers = providers
        self._shipped = shipped
        self._preferences = preferences
        self._clock = clock
        self._metered = metered

    def embedder(self, preferred: str | None, owner: str | None) -> Embedder | None:
        """Return the preferred embedder, else the first usable one, see ``ModelRegistry``."""
        spec = self._named(ModelId(preferred)) if preferred else next(iter(self._usable()), None)
        if spec is None:
            return None
        endpoint = self._endpoint(spec)
        return ServiceEmbedder(
            _info(endpoint),
            self._metered(endpoint.model, make_embedding_service(endpoint)),
            endpoint.service,
            family=endpoint.model.family,
            account=UsageAccount("embedding", owner=owner),
        )

    def available(self) -> tuple[EmbedderInfo, ...]:
        """Return the usable embedders, best first."""
        return tuple(_info(self._endpoint(spec)) for spec in self._usable())

    def _usable(self) -> list[ModelSpec]:
        providers = self._providers
        return [
            *usable_embedders(
                providers.catalogue(), self._preferences(), providers.availability(), self._shipped
            )
        ]

    def _named(self, model_id: ModelId) -> ModelSpec:
        """Return the embedding model of this id. Raises ``InvalidRequest``."""
        catalogue = self._providers.catalogue()
        tagged = ModelId(f"{model_id}{_LATEST}")
        spec = catalogue.embedders.get(model_id) or catalogue.embedders.get(tagged)
        by_space = {_space(each): each for each in catalogue.embedders.values()}
        spec = spec or by_space.get(model_id)
        if spec is not None:
            return spec
        known = catalogue.models.get(model_id) or catalogue.models.get(tagged)
        if known is not None:
            raise InvalidRequest(
                f"{known.id} is not an embedding model.",
                hint='Pick an embedding model. If it is one, add "roles": ["embedding"] to its'
                " entry in models.json.",
            )
        return self._unlisted(catalogue, model_id)

    def _unlisted(self, catalogue: Catalogue, model_id: ModelId) -> ModelSpec:
        """Return a model that its service may yet list, as after a restart."""
        guess = entry_for_unlisted(catalogue, model_id)
        if guess is None:
            raise InvalidRequest(
                f"There is no embedding model {model_id!r}.",
                code="unknown_model",
                hint=f"Pick another one, or add it to ~/.shoulders/models.json. {NO_EMBEDDER_HINT}",
            )
        return ModelSpec.model_validate(guess[1])

    def _endpoint(self, spec: ModelSpec) -> Endpoint:
        """Return the endpoint of the model, with the prices of today.

        Raises ``InvalidRequest`` (no key), ``PolicyRefusal`` (mode).
        """
        providers = self._providers
        provider = providers.catalogue().providers[spec.provider]
        endpoint = providers.endpoints.make(spec, provider, providers.redactor())
        priced = spec.priced_on(self._clock.now().date())
        prices = priced.prices or (_FREE if is_loopback(endpoint.provider.url) else None)
        if prices is not None and prices.output is None:
            prices = prices.model_copy(update={"output": 0})  # embeddings have no output tokens
        return replace(endpoint, model=priced.model_copy(update={"prices": prices}))


def _space(model: ModelSpec) -> str:
    """Return the id of a model's vectors, ``EmbedderInfo.id``; it selects the model again."""
    return f"{model.provider}/{model.model.removesuffix(_LATEST)}"


def _info(endpoint: Endpoint) -> EmbedderInfo:
    model, provider = endpoint.model, endpoint.provider
    return EmbedderInfo(
        id=_space(model),
        model=model.model,
        provider=provider.id,
        host=url_host(provider.url) or "",
        is_local=is_loopback(provider.url),
        price_micro_usd_per_mtok=None if model.prices is None else model.prices.input,
        max_batch=MAX_BATCH,
        max_input_tokens=input_tokens(model),
    )
