"""Which model answers when nobody named one (chapter 03): by mode, by strategy, by what works.

Pure rules over the catalogue; ``registry`` says what stands in a provider's way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from jupyter_ai_shoulders.core.catalogue import Catalogue, ModelSpec, ProviderSpec
from jupyter_ai_shoulders.core.catalogue_trust import is_this_machine
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.core.preferences import ModelPreferences
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId

Strategy = Literal["ghost", "cheapest"]
Side = Literal["local", "remote"]


@dataclass(frozen=True, slots=True)
class _Plan:
    """A strategy: the role its models have, and the vendors in order."""

    role: str
    vendors: tuple[str, ...]
    what_for: str


_PLANS: dict[Strategy, _Plan] = {
    "ghost": _Plan("ghost", ("anthropic", "google", "openai"), "suggestions"),
    "cheapest": _Plan("cheap", ("google", "anthropic", "openai"), "small tasks"),
}


@dataclass(frozen=True, slots=True)
class Prospects:
    """What stands in the way of each provider; None: it may answer.

    ``refusal`` is what is missing here (a key), ``failure`` how the last calls went.
    """

    refusal: Callable[[ProviderSpec], ErrorInfo | None]
    failure: Callable[[ProviderSpec], ErrorInfo | None]

    def obstacle(self, provider: ProviderSpec) -> ErrorInfo | None:
        """Return why the provider cannot answer now."""
        return self.refusal(provider) or self.failure(provider)


def is_loopback(url: str) -> bool:
    """Return whether an address is on this machine; one that is none is not."""
    try:
        return is_this_machine(urlsplit(url).hostname or "")
    except ValueError:
        return False


def side_of(provider: ProviderSpec) -> Side:
    """Return where a provider runs: one on this machine, or an Ollama of one's own, is local."""
    own_ollama = provider.kind == "ollama" and not provider.needs_key
    return "local" if own_ollama or is_loopback(provider.url) else "remote"


def default_model(
    catalogue: Catalogue,
    last_used: ModelId | None,
    preferences: ModelPreferences,
    prospects: Prospects,
) -> ModelId | None:
    """Return what a new conversation takes; the demo only when nothing else can answer.

    The model the settings name, else the one last used, else the catalogue's default, if the mode
    allows them; else by mode, in the catalogue's order. Of local ones only those not known to
    fail; None when nothing can.
    """
    named = [ModelId(preferences.default), *filter(None, (last_used, catalogue.default))]
    known = [catalogue.models[name] for name in named if name in catalogue.models]
    ways = _Ways(catalogue, prospects, known)
    found = next(ways.in_order(preferences), None) or next(ways.demo(), None)
    return found.id if found else None


def by_strategy(
    catalogue: Catalogue, strategy: Strategy, preferences: ModelPreferences, prospects: Prospects
) -> ModelSpec:
    """Return the model for single calls of this kind.

    Raises ``InvalidRequest`` with code ``no_key``, ``no_model``, or what ails a provider that has
    one; the message names each that was considered.
    """
    plan = _PLANS[strategy]
    considered: dict[ProviderId, ErrorInfo] = {}
    for side in _sides(preferences):
        for spec in _candidates(catalogue, plan, side):
            provider = catalogue.providers[spec.provider]
            obstacle = considered.get(provider.id) or prospects.obstacle(provider)
            if obstacle is None:
                return spec
            considered[provider.id] = obstacle
    raise _nothing(catalogue, plan, considered)


def _sides(preferences: ModelPreferences) -> tuple[Side, ...]:
    """Return where to look, first things first."""
    wanted: tuple[Side, ...]
    wanted = ("local", "remote") if preferences.mode == "auto" else (preferences.mode,)
    if preferences.fallback == "none" or preferences.fallback in wanted:
        return wanted
    return (*wanted, preferences.fallback)


def _candidates(catalogue: Catalogue, plan: _Plan, side: Side) -> Iterator[ModelSpec]:
    """Yield models in order: those the user gave the role, the vendors' small ones.

    Locally every other model follows: one that answers at all is better than none.
    """
    here = [
        spec for spec in _real(catalogue) if side_of(catalogue.providers[spec.provider]) == side
    ]
    having = [spec for spec in here if plan.role in spec.roles]
    yield from (spec for spec in having if spec.provider not in plan.vendors)
    for vendor in plan.vendors:
        yield from (spec for spec in having if spec.provider == vendor)
    if side == "local":
        yield from sorted(here, key=lambda spec: spec.reasoning)


def _real(catalogue: Catalogue) -> Iterator[ModelSpec]:
    """Yield the models that are models."""
    return (spec for spec in catalogue.models.values() if not is_demo(catalogue, spec))


def is_demo(catalogue: Catalogue, spec: ModelSpec) -> bool:
    """Return whether the model is the demo."""
    return catalogue.providers[spec.provider].kind == "demo"


def _nothing(
    catalogue: Catalogue, plan: _Plan, considered: dict[ProviderId, ErrorInfo]
) -> InvalidRequest:
    """Return the error of a strategy that found nothing."""
    named = {catalogue.providers[name].name: error for name, error in considered.items()}
    facts = [f"{name}: {error.message.rstrip('.')}" for name, error in named.items()]
    codes: list[ErrorCode] = [error.code for error in named.values()]
    ailing: list[ErrorCode] = [code for code in codes if code != "no_key"]
    lacking: ErrorCode = "no_key" if codes else "no_model"
    return InvalidRequest(
        f"No model for {plan.what_for} can answer." + "".join(f" {fact}." for fact in facts),
        code=ailing[0] if ailing else lacking,
        hint="Set a key, or start a local model (`ollama serve`, `ollama pull NAME`); mode and"
        " fallback are in the AI settings.",
    )


class _Ways:
    """The ways to a default model; asks what is in a provider's way once at most."""

    def __init__(
        self, catalogue: Catalogue, prospects: Prospects, named: Sequence[ModelSpec]
    ) -> None:
        self._catalogue = catalogue
        self._prospects = prospects
        self._named = named
        self._known: dict[ProviderId, bool] = {}

    def in_order(self, preferences: ModelPreferences) -> Iterator[ModelSpec]:
        """Yield what can answer, the best first."""
        sides = _sides(preferences)
        alone: list[tuple[Side, ...]] = [(side,) for side in sides]
        groups = [sides] if preferences.mode == "auto" else alone
        for group in groups:
            yield from self._usable(spec for spec in self._named if self._side(spec) in group)
            for side in group:
                yield from self._members(side)

    def demo(self) -> Iterator[ModelSpec]:
        """Yield the demo."""
        return (
            spec
            for spec in self._catalogue.models.values()
            if is_demo(self._catalogue, spec) and self._can(self._provider(spec))
        )

    def _members(self, side: Side) -> Iterator[ModelSpec]:
        """Yield the models of one side; locally those that can use tools come first."""
        members = (spec for spec in self._catalogue.models.values() if self._side(spec) == side)
        if side == "remote":
            return self._usable(members)
        return self._usable(sorted(members, key=lambda spec: not spec.tools))

    def _usable(self, specs: Iterable[ModelSpec]) -> Iterator[ModelSpec]:
        return (
            spec
            for spec in specs
            if not is_demo(self._catalogue, spec) and self._can(self._provider(spec))
        )

    def _can(self, provider: ProviderSpec) -> bool:
        if provider.id not in self._known:
            remote = side_of(provider) == "remote"
            look = self._prospects.refusal if remote else self._prospects.obstacle
            self._known[provider.id] = look(provider) is None
        return self._known[provider.id]

    def _provider(self, spec: ModelSpec) -> ProviderSpec:
        return self._catalogue.providers[spec.provider]

    def _side(self, spec: ModelSpec) -> Side:
        return side_of(self._provider(spec))
