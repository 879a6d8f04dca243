"""Which models there are, which of them can answer, and the provider that answers for each.

Made by ``host``; implements the engine's ``Models`` port and what the server shows under
``GET models``, ``providers/{id}/key`` and ``providers/{id}/test``.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from jupyter_ai_shoulders.core.catalogue.prices import prices_on
from jupyter_ai_shoulders.core.catalogue.specs import (
    Catalogue,
    CatalogueProblem,
    ModelSpec,
    ProviderSpec,
)
from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.errors import (
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    ProviderError,
)
from jupyter_ai_shoulders.core.folder_trust import FolderItem, FolderTrust
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.providers.adapter_factory import make_provider
from jupyter_ai_shoulders.providers.base import Provider, ResolvedModel
from jupyter_ai_shoulders.providers.catalogue.listed_models import (
    entry_for_unlisted,
    placeholder_model,
    with_unlisted,
)
from jupyter_ai_shoulders.providers.catalogue.loader import CatalogueLoader, shipped_text
from jupyter_ai_shoulders.providers.catalogue.model_discovery import ModelDiscovery
from jupyter_ai_shoulders.providers.catalogue.model_selection import (
    ModelChoice,
    ProviderAvailability,
    Strategy,
    choose_by_strategy,
    choose_default,
    choose_from_provider,
    is_demo,
    no_allowed_model_error,
    side_of,
)
from jupyter_ai_shoulders.providers.catalogue.model_views import model_info, provider_health
from jupyter_ai_shoulders.providers.catalogue.shipped_entries import ShippedCatalogue
from jupyter_ai_shoulders.providers.catalogue.user_models import UserCatalogue
from jupyter_ai_shoulders.providers.credentials.key_store import KeyStore
from jupyter_ai_shoulders.providers.credentials.key_vendors import KeyVendors
from jupyter_ai_shoulders.providers.endpoint_resolver import EndpointResolver
from jupyter_ai_shoulders.providers.formats.fill_in_the_middle import supports_fill_in
from jupyter_ai_shoulders.providers.health import HealthTracker
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.upstream import Upstream
from jupyter_ai_shoulders.providers.setup.candidate_check import CandidateCheck
from jupyter_ai_shoulders.providers.setup.connection_test import (
    failed_connection_test,
    run_connection_test,
)
from jupyter_ai_shoulders.providers.setup.provider_detector import ProviderDetector
from jupyter_ai_shoulders.providers.setup.provider_setup import CurrentProviders, ProviderSetup
from jupyter_ai_shoulders.wire.api.responses import (
    ModelInfo,
    ModelList,
    ProviderHealth,
    ProviderTest,
    SingleCallModel,
)
from jupyter_ai_shoulders.wire.api.settings import SettingsProblem
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId

KEY_FILE = Path(".shoulders") / "keys.env"
MODEL_FILE = Path(".shoulders") / "models.json"
SINGLE_CALLS: tuple[Strategy, ...] = ("ghost", "cheapest")


class ModelRegistry:
    """The models of this server; reads configuration and keys anew when they change."""

    def __init__(
        self,
        files: CatalogueLoader,
        keys: KeyStore,
        targets: EndpointResolver,
        health: HealthTracker,
        clock: Clock,
        *,
        last_used: Callable[[], ModelId | None] = lambda: None,
        preferences: Callable[[], ModelPreferences] = ModelPreferences,
        metered: Callable[[ResolvedModel], ResolvedModel] = lambda resolved: resolved,
        adapter: Callable[[Endpoint], Provider] = make_provider,
        user_file: UserCatalogue,
        environ: Mapping[str, str],
        new_upstream: Callable[[], Upstream] = Upstream,
    ) -> None:
        """``last_used`` says which model the user's latest conversation had.

        ``metered`` puts the meter before the provider of each model that is resolved, which
        ``adapter`` makes.
        """
        self._files = files
        self._keys = keys
        self._targets = targets
        self._health = health
        self._clock = clock
        self._last_used = last_used
        self._preferences = preferences
        self._metered = metered
        self._adapter = adapter
        self._discovery = ModelDiscovery(files, targets, clock, self.redactor)
        self._shipped = ShippedCatalogue.read(shipped_text())
        self.setup = self._new_setup(user_file, environ, new_upstream)
        """Adds, changes and removes the user's own providers."""

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        """Return the model, or the default for None; makes no network call.

        Its prices are today's.

        Raises ``InvalidRequest`` with code ``no_model``, ``unknown_model`` or ``no_key``, and
        ``PolicyRefusal`` where the settings allow only local models and this is none.
        """
        if model_id is not None:
            return self._resolved(model_id)
        choice = self._choice()
        if choice is None:
            raise no_allowed_model_error(self._preferences())
        found = self._resolved(choice.model.id)
        return replace(found, is_stand_in=choice.is_stand_in, notice=choice.notice)

    def _resolved(self, model_id: ModelId) -> ResolvedModel:
        catalogue = self._knowing(model_id)
        spec = _spec(catalogue, model_id)
        provider = catalogue.providers[spec.provider]
        redactor = self._targets.redactor(catalogue.providers.values())
        target = self._targets.make(spec, provider, redactor)
        told = self._priced(spec)
        if spec.fill_in and not supports_fill_in(spec, provider):
            told = told.model_copy(update={"fill_in": False})
        return self._metered(ResolvedModel(told, self._adapter(target), redactor))

    def default_model(self) -> ModelId | None:
        """Return what a new conversation takes, see ``choice``; None when nothing can answer."""
        choice = self._choice()
        return None if choice is None else choice.model.id

    async def refresh_default(self) -> None:
        """Look for servers on this machine, if only a stand-in could answer without them."""
        choice = self._choice()
        if choice is None or choice.is_stand_in:
            await self._discovery.refresh_local()

    def _choice(self) -> ModelChoice | None:
        preferences, last_used = self._preferences(), self._last_used()
        catalogue = self._files.current()
        named = filter(None, (ModelId(preferences.default), last_used, catalogue.default))
        catalogue = with_unlisted(catalogue, named)
        return choose_default(catalogue, last_used, preferences, self._prospects(), self._shipped)

    def by_strategy(self, strategy: Strategy) -> ModelId:
        """Return the model that makes single calls of this kind; makes no network call.

        Raises ``InvalidRequest`` that says why none can, see ``choice``.
        """
        found = choose_by_strategy(
            self._files.current(), strategy, self._preferences(), self._prospects()
        )
        return found.id

    def for_title(self, turn_model: ModelId) -> ModelId | None:
        """Return what may name a conversation with this model: a cheap one.

        The demo's conversations are not named, and what a local model was told stays with it.
        Raises as ``choose_by_strategy`` does.
        """
        catalogue = self._files.current()
        spec = _spec(catalogue, turn_model)
        if is_demo(catalogue, spec):
            return None
        if side_of(catalogue.providers[spec.provider]) == "local":
            return turn_model
        return self.by_strategy("cheapest")

    def for_summary(self, turn_model: ModelId) -> ModelId | None:
        """Return what may summarise a conversation with this model: the cheapest that can.

        Where no cheap one can answer, the model itself does. Nobody reads the demo's, and what a
        local model was told stays with it.
        """
        try:
            return self.for_title(turn_model)
        except InvalidRequest:
            return turn_model

    def readiness(self) -> Literal["none", "demo", "ready"]:
        """Return whether a real model can answer, only the demo, or none."""
        catalogue = self._files.current()
        choice = self._choice()
        if choice is None or self._targets.refusal(catalogue.providers[choice.model.provider]):
            return "none"
        return "demo" if is_demo(catalogue, choice.model) else "ready"

    def listing(self) -> ModelList:
        """Return all models and providers as the picker and the settings show them."""
        choice = self._choice()
        default = None if choice is None else choice.model.id
        catalogue = self._files.current()
        return ModelList(
            models=tuple(self._info(catalogue, spec) for spec in catalogue.models.values()),
            default=default,
            default_set=default is not None and default == self._preferences().default,
            default_is_stand_in=choice is not None and choice.is_stand_in,
            single_calls=tuple(map(self._single, SINGLE_CALLS)),
            providers=self.health(),
            problems=tuple(
                SettingsProblem(file=problem.source, line=problem.line, message=problem.message)
                for problem in catalogue.problems
            ),
        )

    def reload(self) -> None:
        """Read the configuration files if they changed; two ``stat`` calls when they did not."""
        self._files.current()

    def health(self) -> tuple[ProviderHealth, ...]:
        """Return what is known of each provider, without asking any."""
        return tuple(self._state(spec) for spec in self._files.current().providers.values())

    def problems(self) -> tuple[CatalogueProblem, ...]:
        """Return what is wrong in the user's configuration files."""
        return self._files.current().problems

    def folder_items(self) -> tuple[FolderItem, ...]:
        """Return what the workspace's own catalogue would change, for the person to review."""
        return self._files.items()

    def redactor(self) -> Redactor:
        """Return the redactor that knows the keys in use now."""
        return self._targets.redactor(self._files.current().providers.values())

    def latest_redactor(self) -> Redactor:
        """Return the redactor made last, without looking for keys again."""
        return self._targets.latest_redactor

    async def discover(self, *, remote: bool = True) -> None:
        """Ask services for their models, those that are due; waits a second at most.

        Without ``remote`` it waits for services on this machine only.
        """
        await self._discovery.refresh_all(remote=remote)

    async def check(self, provider_id: ProviderId) -> ProviderHealth:
        """Ask a provider for its models unless its state is known, and return its health.

        Raises ``NotFound``.
        """
        provider = self._provider(provider_id)
        unknown = self._health.health_of(provider_id).state == "unknown"
        if unknown and self._targets.refusal(provider) is None:
            target = self._targets.make(placeholder_model(provider), provider, self.redactor())
            with contextlib.suppress(
                ProviderError, PolicyRefusal
            ):  # it is in the health book already
                await self._adapter(target).list_models()
        return self._state(provider)

    async def test(self, provider_id: ProviderId, owner: str | None = None) -> ProviderTest:
        """Make one real call with a streamed tool call, for ``owner``; what fails is in the answer.

        Raises ``NotFound``.
        """
        provider = self._provider(provider_id)
        model = self._test_model(provider_id)
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

    async def warm(self) -> None:
        """Look all keys up in a thread, so that a slow keyring never stalls the event loop."""
        providers = self._files.current().providers.values()
        names = [name for provider in providers for name in provider.key_names]
        await asyncio.to_thread(self._keys.values, names)

    async def set_key(self, provider_id: ProviderId, value: str) -> ProviderHealth:
        """Store a provider's key.

        Raises ``NotFound``, ``InvalidRequest``, ``Conflict`` (set in the environment),
        ``StateUnavailable``.
        """
        provider = self._provider(provider_id)
        await asyncio.to_thread(self._keys.set, provider.key_name, value)
        self._changed(provider_id, None)
        return self._state(provider)

    async def remove_key(self, provider_id: ProviderId) -> ProviderHealth:
        """Remove a provider's stored key. Raises as ``set_key`` does."""
        provider = self._provider(provider_id)
        await asyncio.to_thread(self._keys.remove, provider.key_name)
        self._changed(provider_id, None)
        return self._state(provider)

    async def aclose(self) -> None:
        """Stop asking, and close all connections."""
        await self._discovery.aclose()
        await self._targets.aclose()

    def _new_setup(
        self, file: UserCatalogue, environ: Mapping[str, str], new_upstream: Callable[[], Upstream]
    ) -> ProviderSetup:
        trials = CandidateCheck(
            self._targets,
            self._clock,
            self.redactor,
            metered=self._metered,
            adapter=self._adapter,
        )
        vendors = KeyVendors(self._shipped.providers)
        detector = ProviderDetector(
            self._files.current,
            self._keys,
            trials,
            vendors,
            redactor=self.redactor,
            new_upstream=new_upstream,
        )
        current = CurrentProviders(
            self._files.current,
            self._state,
            self._test_model,
            self._changed,
            self.redactor,
            self._discovery.refresh_provider,
        )
        return ProviderSetup(
            current,
            self._keys,
            file,
            trials,
            detector,
            vendors=vendors,
            shipped=self._shipped,
            environ=environ,
        )

    def _changed(self, provider_id: ProviderId, test: ProviderTest | None) -> None:
        """Forget what was known of a provider, but for how its test went."""
        self._health.forget(provider_id)
        self._discovery.forget(provider_id)
        if test is not None and test.ok:
            self._health.report(provider_id, None)

    def _single(self, purpose: Strategy) -> SingleCallModel:
        try:
            return SingleCallModel(purpose=purpose, model=self.by_strategy(purpose), reason=None)
        except InvalidRequest as error:
            return SingleCallModel(purpose=purpose, model=None, reason=error.info.message)

    def _knowing(self, model_id: ModelId) -> Catalogue:
        """Return the catalogue; with the model, if it may be one that its service will list."""
        catalogue = self._files.current()
        if model_id in catalogue.models:
            return catalogue
        guess = entry_for_unlisted(catalogue, model_id)
        if guess is not None:
            provider, entry = guess
            self._files.add_listed(provider.id, entry)
        return self._files.current()

    def _provider(self, provider_id: ProviderId) -> ProviderSpec:
        provider = self._files.current().providers.get(provider_id)
        if provider is None:
            raise NotFound(f"There is no provider {provider_id!r}.")
        return provider

    def _test_model(self, provider_id: ProviderId) -> ModelSpec | None:
        """Return the model that tests a provider: the one its user would get."""
        preferences, last_used = self._preferences(), self._last_used()
        catalogue = self._files.current()
        named = filter(None, (ModelId(preferences.default), last_used, catalogue.default))
        catalogue = with_unlisted(catalogue, named)
        return choose_from_provider(provider_id, catalogue, last_used, preferences)

    def _priced(self, spec: ModelSpec) -> ModelSpec:
        """Return the model with the prices of today."""
        if spec.prices is None or not spec.prices.changes:
            return spec
        prices = prices_on(spec.prices, self._clock.now().date())
        return spec.model_copy(update={"prices": prices})

    def _prospects(self) -> ProviderAvailability:
        def refusal(provider: ProviderSpec) -> ErrorInfo | None:
            found = self._targets.missing(provider)
            return None if found is None else found.info

        def failure(provider: ProviderSpec) -> ErrorInfo | None:
            health = self._health.health_of(provider.id)
            known = health.state != "unknown"
            return health.error if known else self._discovery.unreachable_error(provider.id)

        return ProviderAvailability(refusal, failure)

    def _info(self, catalogue: Catalogue, spec: ModelSpec) -> ModelInfo:
        provider = catalogue.providers[spec.provider]
        return model_info(self._priced(spec), provider, self._targets.refusal(provider))

    def _state(self, provider: ProviderSpec) -> ProviderHealth:
        key = self._targets.key(provider)
        custom = provider.id in self._files.own
        return provider_health(provider, key, self._health.health_of(provider.id), custom=custom)


def build_registry(
    home: Path,
    state_directory: Path,
    clock: Clock,
    ids: IdSource,
    *,
    environ: Mapping[str, str] = os.environ,
    trait: Mapping[str, Any] | None = None,
    keys: KeyStore | None = None,
    withdraw: Callable[[Iterable[str]], None] | None = None,
    last_used: Callable[[], ModelId | None] = lambda: None,
    preferences: Callable[[], ModelPreferences] = ModelPreferences,
    metered: Callable[[ResolvedModel], ResolvedModel] = lambda resolved: resolved,
    new_upstream: Callable[[], Upstream] = Upstream,
    adapter: Callable[[Endpoint], Provider] = make_provider,
    trust: FolderTrust | None = None,
) -> ModelRegistry:
    """Return a registry on the usual files: ``~/.shoulders`` and the workspace's state directory.

    ``trust`` has the person's answers about the latter, which are their own without it.

    ``keys`` is given where a keyring is used; it defaults to environment and key file.
    ``withdraw`` is called with the names of the variables that providers read, see
    ``CatalogueLoader``.
    """
    found = CatalogueLoader(
        home / MODEL_FILE,
        state_directory / MODEL_FILE.name,
        environ,
        trait,
        ollama_host=lambda: preferences().ollama_host,
        trust=trust,
        withdraw=withdraw,
    )
    store = keys or KeyStore(home / KEY_FILE, environ)
    health = HealthTracker(clock)
    targets = EndpointResolver(
        store,
        environ,
        ids,
        health,
        now=clock.now,
        new_upstream=new_upstream,
        only_local=lambda: preferences().mode == "local",
    )
    return ModelRegistry(
        found,
        store,
        targets,
        health,
        clock,
        last_used=last_used,
        preferences=preferences,
        metered=metered,
        adapter=adapter,
        user_file=UserCatalogue(home / MODEL_FILE),
        environ=environ,
        new_upstream=new_upstream,
    )


def _spec(catalogue: Catalogue, model_id: ModelId) -> ModelSpec:
    spec = catalogue.models.get(model_id)
    if spec is None:
        raise InvalidRequest(
            f"There is no model {model_id!r}.",
            code="unknown_model",
            hint="Pick a model from the list, or add it to ~/.shoulders/models.json. One that this "
            "folder brings is offered once you trust the folder (AI settings).",
        )
    return spec
