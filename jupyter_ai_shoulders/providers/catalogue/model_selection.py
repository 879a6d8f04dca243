"""Selects a model where none was named: by mode, strategy, configuration and health.

Pure rules over the catalogue, applied by ``ModelSelector``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.core.catalogue.specs import Catalogue, ModelSpec, ProviderSpec
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.providers.catalogue.shipped_entries import ShippedCatalogue
from jupyter_ai_shoulders.providers.http.loopback import is_loopback
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId

Strategy = Literal["ghost", "cheapest"]
Side = Literal["local", "remote"]
Obstacle = tuple[ModelSpec, ErrorInfo]
"""A model, and why it cannot answer."""


@dataclass(frozen=True, slots=True)
class _SelectionStrategy:
    """A strategy: the role of its models, and the preferred vendors in order."""

    role: str
    vendors: tuple[str, ...]
    purpose: str


_PLANS: dict[Strategy, _SelectionStrategy] = {
    "ghost": _SelectionStrategy("ghost", ("anthropic", "google", "openai"), "suggestions"),
    "cheapest": _SelectionStrategy("cheap", ("google", "anthropic", "openai"), "small tasks"),
}


@dataclass(frozen=True, slots=True)
class ProviderAvailability:
    """Why each provider cannot answer; None: it can.

    ``refusal`` is about configuration (a missing key), ``failure`` about its recent calls.
    """

    refusal: Callable[[ProviderSpec], ErrorInfo | None]
    failure: Callable[[ProviderSpec], ErrorInfo | None]

    def obstacle(self, provider: ProviderSpec) -> ErrorInfo | None:
        """Return why the provider cannot answer."""
        return self.refusal(provider) or self.failure(provider)


def side_of(provider: ProviderSpec) -> Side:
    """Return the side a provider counts as: this machine and the user's own Ollama are local.

    The mode ``local`` is stricter: it permits loopback addresses only.
    """
    own_ollama = provider.kind == "ollama" and not provider.needs_key
    return "local" if own_ollama or is_loopback(provider.url) else "remote"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model selected for a new conversation."""

    model: ModelSpec
    is_stand_in: bool = False
    """Whether it is temporary: the demo where nothing is configured, or a replacement."""
    instead_of: Obstacle | None = None
    """The model that would have been selected, and why it cannot answer."""

    @property
    def notice(self) -> str:
        """The text shown before the answer; empty unless another model was wanted."""
        if self.instead_of is None:
            return ""
        wanted, error = self.instead_of
        reason = error.message.rstrip(".")
        return f"{wanted.name} is not answering ({reason}); using {self.model.name}."


def choose_default(
    catalogue: Catalogue,
    last_used: ModelId | None,
    preferences: ModelPreferences,
    availability: ProviderAvailability,
    shipped: ShippedCatalogue,
) -> ModelChoice | None:
    """Return the model of a new conversation; None where the mode permits no configured model.

    In order: the model of the settings, the last used one, the catalogue's default, then by mode in
    the catalogue's order. A named model that cannot answer is replaced only where ``fallback`` or
    the mode ``auto`` permits it; otherwise it is returned, and its call fails with the reason. The
    demo is returned only where nothing else is configured, or where it was named.
    """
    default = _Default(catalogue, preferences, availability, shipped)
    return default.choose(last_used)


def choose_from_provider(
    provider_id: ProviderId,
    catalogue: Catalogue,
    last_used: ModelId | None,
    preferences: ModelPreferences,
) -> ModelSpec | None:
    """Return the model of one provider that its user would get; None where it has none.

    The model that ``choose_default`` would try first, else the first that can use tools.
    """
    own = {spec.id: spec for spec in catalogue.models.values() if spec.provider == provider_id}
    named = (ModelId(preferences.default), last_used, catalogue.default)
    preferred = [own[name] for name in named if name is not None and name in own]
    return next(iter((*preferred, *sorted(own.values(), key=lambda spec: not spec.tools))), None)


def choose_by_strategy(
    catalogue: Catalogue,
    strategy: Strategy,
    preferences: ModelPreferences,
    availability: ProviderAvailability,
) -> ModelSpec:
    """Return the model for single calls of this kind.

    Raises ``InvalidRequest`` with code ``no_key``, ``no_model``, or the error of a provider that
    has one; the message names each provider considered.
    """
    plan = _PLANS[strategy]
    considered: dict[ProviderId, ErrorInfo] = {}
    for side in searched_sides(preferences):
        for spec in _candidates(catalogue, plan, side, preferences):
            provider = catalogue.providers[spec.provider]
            obstacle = considered.get(provider.id) or availability.obstacle(provider)
            if obstacle is None:
                return spec
            considered[provider.id] = obstacle
    raise _nothing(catalogue, plan, considered)


def _primary(preferences: ModelPreferences) -> tuple[Side, ...]:
    """Return the sides the mode permits, preferred one first."""
    return ("local", "remote") if preferences.mode == "auto" else (preferences.mode,)


def _fallback(preferences: ModelPreferences) -> tuple[Side, ...]:
    """Return the sides of replacements; the mode ``local`` never permits a remote one."""
    if preferences.fallback == "none":
        return ()
    if preferences.mode == "local" and preferences.fallback == "remote":
        return ()
    return (preferences.fallback,)


def searched_sides(preferences: ModelPreferences) -> tuple[Side, ...]:
    """Return the sides searched for a model without a name, in order."""
    return tuple(dict.fromkeys((*_primary(preferences), *_fallback(preferences))))


def side_in_mode(provider: ProviderSpec, preferences: ModelPreferences) -> Side:
    """Return the side of a provider in this mode."""
    if preferences.mode == "local" and not is_loopback(provider.url):
        return "remote"
    return side_of(provider)


def _candidates(
    catalogue: Catalogue, plan: _SelectionStrategy, side: Side, preferences: ModelPreferences
) -> Iterator[ModelSpec]:
    """Yield models in order: those the user gave the role, then the vendors' small ones.

    Locally all other models follow, as any answer is better than none.
    """
    here = [
        spec
        for spec in _real(catalogue)
        if side_in_mode(catalogue.providers[spec.provider], preferences) == side
    ]
    having = [spec for spec in here if plan.role in spec.roles]
    yield from (spec for spec in having if spec.provider not in plan.vendors)
    for vendor in plan.vendors:
        yield from (spec for spec in having if spec.provider == vendor)
    if side == "local":
        yield from sorted(here, key=lambda spec: spec.reasoning)


def _real(catalogue: Catalogue) -> Iterator[ModelSpec]:
    """Yield all models but the demo."""
    return (spec for spec in catalogue.models.values() if not is_demo(catalogue, spec))


def is_demo(catalogue: Catalogue, spec: ModelSpec) -> bool:
    """Return whether the model is the demo."""
    return catalogue.providers[spec.provider].kind == "demo"


def _nothing(
    catalogue: Catalogue, plan: _SelectionStrategy, considered: dict[ProviderId, ErrorInfo]
) -> InvalidRequest:
    """Return the error of a strategy without a usable model."""
    named = {catalogue.providers[name].name: error for name, error in considered.items()}
    facts = [f"{name}: {error.message.rstrip('.')}" for name, error in named.items()]
    codes: list[ErrorCode] = [error.code for error in named.values()]
    ailing: list[ErrorCode] = [code for code in codes if code != "no_key"]
    lacking: ErrorCode = "no_key" if codes else "no_model"
    return InvalidRequest(
        f"No model for {plan.purpose} can answer." + "".join(f" {fact}." for fact in facts),
        code=ailing[0] if ailing else lacking,
        hint="Set a key, or start a local model (`ollama serve`, `ollama pull NAME`); mode and"
        " fallback are in the AI settings.",
    )


def no_allowed_model_error(preferences: ModelPreferences) -> InvalidRequest:
    """Return the error for a mode that permits no configured model."""
    if preferences.mode == "local":
        return InvalidRequest(
            "No local model is set up, and the settings allow only local models.",
            code="no_model",
            hint="Start one (`ollama serve`, `ollama pull NAME`), or set Mode to Auto or Remote in"
            " the AI settings under Models (models.mode).",
        )
    return InvalidRequest(
        "No model can answer: none is set up that the settings allow.",
        code="no_model",
        hint="Set a key, ANTHROPIC_API_KEY for instance, or store one in the AI settings. Mode and"
        " Fallback are there under Models (models.mode, models.fallback).",
    )


class _Default:
    """Selects the model of a new conversation; checks each provider's availability once."""

    def __init__(
        self,
        catalogue: Catalogue,
        preferences: ModelPreferences,
        availability: ProviderAvailability,
        shipped: ShippedCatalogue,
    ) -> None:
        self._catalogue = catalogue
        self._preferences = preferences
        self._shipped = shipped
        self._refusal = _cached(availability.refusal)
        self._failure = _cached(availability.failure)

    def choose(self, last_used: ModelId | None) -> ModelChoice | None:
        """See ``choose_default``."""
        models = self._catalogue.models
        explicit = models.get(ModelId(self._preferences.default))
        last = models.get(last_used) if last_used else None
        if last is not None and self._is_demo(last):
            last = None
        preset = models.get(self._catalogue.default) if self._catalogue.default else None
        for spec in filter(None, (explicit, last, preset)):
            if self._is_demo(spec):
                return ModelChoice(spec)
            named = spec is explicit or spec is preset
            if self._in_mode(spec) and (named or self._is_configured(spec)):
                return self._or_another(spec, replaceable=spec is not explicit)
        found = self._by_mode()
        if found is not None:
            return found
        if any(map(self._is_configured, models.values())):
            return None
        if last is not None:
            return ModelChoice(last) if self._in_mode(last) else None
        return next((ModelChoice(spec, is_stand_in=True) for spec in self._demos()), None)

    def _by_mode(self) -> ModelChoice | None:
        """Return the choice where no model was named."""
        first = next(iter(self._catalogue.models.values()), None)
        if first is not None and self._in_mode(first) and self._can_answer(first):
            return ModelChoice(first)
        primary = [*self._members(*_primary(self._preferences))]
        failing: Obstacle | None = None
        for spec in primary:
            error = self._obstacle(spec)
            if error is None:
                return ModelChoice(spec, failing is not None, failing)
            if failing is None and error.code != "no_key":
                failing = (spec, error)
        if primary:
            return self._or_another(primary[0], replaceable=True)
        others = [*self._members(*_fallback(self._preferences))]
        other = next(filter(self._can_answer, others), None) or next(iter(others), None)
        return ModelChoice(other) if other else None

    def _or_another(self, wanted: ModelSpec, *, replaceable: bool) -> ModelChoice:
        """Return the wanted model, or a replacement where it cannot answer and the settings permit
        one.

        In the mode ``auto`` a remote model may replace a local one that is ``replaceable``.
        """
        obstacle = self._obstacle(wanted)
        if obstacle is None:
            return ModelChoice(wanted)
        sides = _fallback(self._preferences)
        if self._preferences.mode == "auto" and replaceable and self._side(wanted) == "local":
            sides = tuple(dict.fromkeys((*sides, "remote")))
        others = filter(self._is_usable, self._members(*sides))
        other = next(filter(lambda spec: spec.provider != wanted.provider, others), None)
        if other is None:
            return ModelChoice(wanted)
        return ModelChoice(other, is_stand_in=True, instead_of=(wanted, obstacle))

    def _members(self, *sides: Side) -> Iterator[ModelSpec]:
        """Yield the configured models on these sides, in order; locally those with tools first."""
        for side in sides:
            members = [
                spec
                for spec in self._catalogue.models.values()
                if self._side(spec) == side and self._is_configured(spec)
            ]
            yield from members if side == "remote" else sorted(members, key=lambda m: not m.tools)

    def _is_configured(self, spec: ModelSpec) -> bool:
        """Return whether the model is configured: by a key, an entry or a running server."""
        if self._is_demo(spec):
            return False
        provider = self._provider(spec)
        return self._refusal(provider) is None or not self._shipped.holds(spec, provider)

    def _can_answer(self, spec: ModelSpec) -> bool:
        return self._obstacle(spec) is None

    def _is_usable(self, spec: ModelSpec) -> bool:
        """Return whether the model can answer and did at its last call."""
        return self._can_answer(spec) and self._failure(self._provider(spec)) is None

    def _obstacle(self, spec: ModelSpec) -> ErrorInfo | None:
        """Return why a model cannot answer; a remote one is retried after a failed call."""
        provider = self._provider(spec)
        failure = None if self._side(spec) == "remote" else self._failure(provider)
        return self._refusal(provider) or failure

    def _in_mode(self, spec: ModelSpec) -> bool:
        return self._side(spec) in _primary(self._preferences)

    def _side(self, spec: ModelSpec) -> Side:
        return side_in_mode(self._provider(spec), self._preferences)

    def _provider(self, spec: ModelSpec) -> ProviderSpec:
        return self._catalogue.providers[spec.provider]

    def _is_demo(self, spec: ModelSpec) -> bool:
        return is_demo(self._catalogue, spec)

    def _demos(self) -> Iterator[ModelSpec]:
        return (
            spec
            for spec in self._catalogue.models.values()
            if self._is_demo(spec) and self._refusal(self._provider(spec)) is None
        )


def _cached(
    ask: Callable[[ProviderSpec], ErrorInfo | None],
) -> Callable[[ProviderSpec], ErrorInfo | None]:
    """Return the function with its results cached by provider."""
    known: dict[ProviderId, ErrorInfo | None] = {}

    def answer(provider: ProviderSpec) -> ErrorInfo | None:
        if provider.id not in known:
            known[provider.id] = ask(provider)
        return known[provider.id]

    return answer
