"""Resolves models and lists them; implements the engine's ``Models`` port.

Built by ``registry_builder``; the server shows the listing under ``GET models``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal

from jupyter_ai_shoulders.core.catalogue.specs import Catalogue, CatalogueProblem, ModelSpec
from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.embedding import Embedder, EmbedderInfo
from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal
from jupyter_ai_shoulders.core.folder_trust import FolderItem
from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.providers.base import ResolvedModel
from jupyter_ai_shoulders.providers.catalogue.listed_models import entry_for_unlisted
from jupyter_ai_shoulders.providers.catalogue.model_selection import (
    Strategy,
    is_demo,
    no_allowed_model_error,
    side_of,
)
from jupyter_ai_shoulders.providers.catalogue.model_views import model_info
from jupyter_ai_shoulders.providers.configured_providers import ConfiguredProviders
from jupyter_ai_shoulders.providers.embedder_selector import EmbedderSelector
from jupyter_ai_shoulders.providers.formats.fill_in_the_middle import supports_fill_in
from jupyter_ai_shoulders.providers.model_selector import ModelSelector
from jupyter_ai_shoulders.providers.setup.connection_test import (
    failed_connection_test,
    run_connection_test,
)
from jupyter_ai_shoulders.providers.setup.provider_setup import ProviderSetup
from jupyter_ai_shoulders.wire.api.responses import ModelInfo, ModelList, ProviderTest
from jupyter_ai_shoulders.wire.api.settings import SettingsProblem
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId

SINGLE_CALLS: tuple[Strategy, ...] = ("ghost", "cheapest")


class ModelRegistry:
    """The models of this server."""

    def __init__(
        self,
        providers: ConfiguredProviders,
        selector: ModelSelector,
        setup: ProviderSetup,
        clock: Clock,
        *,
        embedders: EmbedderSelector,
        metered: Callable[[ResolvedModel], ResolvedModel],
    ) -> None:
        """``metered`` puts the meter before the provider of each resolved model."""
        self.providers = providers
        self.setup = setup
        """Adds, changes and removes the user's own providers."""
        self._selector = selector
        self._embedders = embedders
        self._clock = clock
        self._metered = metered

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        """Return the model with today's prices, or the default for None; makes no network call.

        Raises ``InvalidRequest`` with code ``no_model``, ``unknown_model`` or ``no_key``, and
        ``PolicyRefusal`` for a remote model where the settings permit only local ones.
        """
        if model_id is not None:
            return self._resolved(model_id)
        choice = self._selector.default()
        if choice is None:
            raise no_allowed_model_error(self._selector.preferences())
        found = self._resolved(choice.model.id)
        return replace(found, is_stand_in=choice.is_stand_in, notice=choice.notice)

    def _resolved(self, model_id: ModelId) -> ResolvedModel:
        catalogue = self._knowing(model_id)
        spec = _spec(catalogue, model_id)
        provider = catalogue.providers[spec.provider]
        redactor = self.providers.endpoints.redactor(catalogue.providers.values())
        endpoint = self.providers.endpoints.make(spec, provider, redactor)
        told = self._priced(spec)
        if spec.fill_in and not supports_fill_in(spec, provider):
            told = told.model_copy(update={"fill_in": False})
        return self._metered(
            ResolvedModel(told, self.providers.adapter(endpoint), self.cached_redactor)
        )

    def default_model(self) -> ModelId | None:
        """Return the model of a new conversation; None when no model can answer."""
        choice = self._selector.default()
        return None if choice is None else choice.model.id

    async def refresh_default(self) -> None:
        """Look for servers on this machine, if without them the default is only a stand-in."""
        choice = self._selector.default()
        if choice is None or choice.is_stand_in:
            await self.providers.discovery.refresh_local()

    def by_strategy(self, strategy: Strategy) -> ModelId:
        """Return the model for single calls of this kind; makes no network call.

        Raises ``InvalidRequest`` as ``choose_by_strategy`` does.
        """
        return self._selector.by_strategy(strategy)

    def for_title(self, turn_model: ModelId) -> ModelId | None:
        """Return a cheap model to title a conversation with this model; None for the demo's.

        A local model titles its own conversations, so that their text stays on this machine. Raises
        as ``choose_by_strategy`` does.
        """
        catalogue = self.providers.catalogue()
        spec = _spec(catalogue, turn_model)
        if is_demo(catalogue, spec):
            return None
        if side_of(catalogue.providers[spec.provider]) == "local":
            return turn_model
        return self.by_strategy("cheapest")

    def for_summary(self, turn_model: ModelId) -> ModelId | None:
        """Return the cheapest model to summarise a conversation with this model; None for the
        demo's.

        The model itself where no cheap one can answer, and where it is local.
        """
        try:
            return self.for_title(turn_model)
        except InvalidRequest:
            return turn_model

    def embedder(self, preferred: str | None, owner: str | None = None) -> Embedder | None:
        """Return the ``preferred`` embedding model, else one by mode; makes no network call.

        ``owner`` is the user the calls are made for, where calls have owners. None where no
        embedder can be used, see ``core.embedding.NO_EMBEDDER_HINT``. Raises ``InvalidRequest``
        (unknown, not an embedding model, no key) and ``PolicyRefusal`` (mode) for ``preferred``
        only.
        """
        return self._embedders.embedder(preferred, owner)

    def embedders(self) -> tuple[EmbedderInfo, ...]:
        """Return the embedders that can be used now, the one used without a preference first."""
        return self._embedders.available()

    def readiness(self) -> Literal["none", "demo", "ready"]:
        """Return whether a real model can answer, only the demo, or none."""
        catalogue = self.providers.catalogue()
        choice = self._selector.default()
        if choice is None or self.providers.endpoints.refusal(
            catalogue.providers[choice.model.provider]
        ):
            return "none"
        return "demo" if is_demo(catalogue, choice.model) else "ready"

    def listing(self) -> ModelList:
        """Return all models and providers as the picker and the settings show them."""
        choice = self._selector.default()
        default = None if choice is None else choice.model.id
        catalogue = self.providers.catalogue()
        return ModelList(
            models=tuple(self._info(catalogue, spec) for spec in catalogue.models.values()),
            default=default,
            default_set=default is not None and default == self._selector.preferences().default,
            default_is_stand_in=choice is not None and choice.is_stand_in,
            single_calls=tuple(map(self._selector.single_call, SINGLE_CALLS)),
            providers=self.providers.health(),
            problems=tuple(
                SettingsProblem(file=problem.source, line=problem.line, message=problem.message)
                for problem in catalogue.problems
            ),
        )

    def reload(self) -> None:
        """Reload the configuration files if they changed."""
        self.providers.catalogue()

    def problems(self) -> tuple[CatalogueProblem, ...]:
        """Return the problems of the user's configuration files."""
        return self.providers.catalogue().problems

    def folder_items(self) -> tuple[FolderItem, ...]:
        """Return the changes by the workspace's own catalogue, for the user's review."""
        return self.providers.files.items()

    def redactor(self) -> Redactor:
        """Return the redactor that knows the keys in use now."""
        return self.providers.redactor()

    def add_secret_source(self, source: Callable[[], Iterable[str]]) -> None:
        """Redact the values that a source returns too."""
        self.providers.endpoints.add_secret_source(source)

    def cached_redactor(self) -> Redactor:
        """Return the redactor made last, without looking keys up."""
        return self.providers.endpoints.cached_redactor

    async def discover(self, *, remote: bool = True) -> None:
        """List the models of services that are due; waits a second at most.

        Without ``remote`` it waits for services on this machine only.
        """
        await self.providers.discovery.refresh_all(remote=remote)

    async def test(self, provider_id: ProviderId, owner: str | None = None) -> ProviderTest:
        """Make one real call with a streamed tool call, paid by ``owner``; the result has any
        failure.

        Raises ``NotFound``.
        """
        provider = self.providers.provider(provider_id)
        model = self._selector.test_model(provider_id)
        if model is None:
            return failed_connection_test(
                InvalidRequest(
                    f"The catalogue has no model of {provider.name}.",
                    code="no_model",
                    hint='Add one to "models" in .shoulders/models.json.',
                )
            )
        try:
            resolved = self.resolve(model.id)
        except (InvalidRequest, PolicyRefusal) as error:
            return failed_connection_test(error)
        needs_call = provider.kind != "demo"
        return await run_connection_test(resolved, self._clock, needs_call=needs_call, owner=owner)

    async def aclose(self) -> None:
        """Stop listing models, and close all connections."""
        await self.providers.aclose()

    def _knowing(self, model_id: ModelId) -> Catalogue:
        """Return the catalogue, with an entry for the model if its service may yet list it."""
        catalogue = self.providers.catalogue()
        if catalogue.spec(model_id) is not None:
            return catalogue
        guess = entry_for_unlisted(catalogue, model_id)
        if guess is not None:
            provider, entry = guess
            self.providers.files.add_listed(provider.id, entry)
        return self.providers.catalogue()

    def _priced(self, spec: ModelSpec) -> ModelSpec:
        """Return the model with today's prices."""
        return spec.priced_on(self._clock.now().date())

    def _info(self, catalogue: Catalogue, spec: ModelSpec) -> ModelInfo:
        provider = catalogue.providers[spec.provider]
        return model_info(self._priced(spec), provider, self.providers.endpoints.refusal(provider))


def _spec(catalogue: Catalogue, model_id: ModelId) -> ModelSpec:
    spec = catalogue.models.get(model_id)
    if model_id in catalogue.embedders:
        raise InvalidRequest(
            f"{model_id} is an embedding model: it is for search, and cannot answer.",
            code="unknown_model",
            hint="Pick a model from the list.",
        )
    if spec is None:
        raise InvalidRequest(
            f"There is no model {model_id!r}.",
            code="unknown_model",
            hint="Pick a model from the list, or add it to ~/.shoulders/models.json. One that this "
            "folder brings is offered once you trust the folder (AI settings).",
        )
    return spec
