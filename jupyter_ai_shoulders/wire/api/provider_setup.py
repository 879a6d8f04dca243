"""Requests and responses for adding, changing and removing providers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.api.responses import ProviderHealth, ProviderTest
from jupyter_ai_shoulders.wire.base import CommandModel, WireModel
from jupyter_ai_shoulders.wire.ids import ProviderId

ApiKind = Literal["anthropic", "openai_responses", "openai_chat", "google", "ollama"]
"""The APIs of providers."""

LONGEST_NAME = 200
MOST_LISTED = 1_000
"""Maximum number of models in a request or answer."""


class DetectProvider(CommandModel):
    """``POST providers/detect``: identify the service of a key, or the API at an address."""

    address: str = Field(default="", max_length=2_000)
    key: str = Field(default="", max_length=4_096)
    """Sent to ``address`` or, without one, to the service that issued it."""
    provider: ProviderId | None = None
    """The provider of the key, if its form does not tell."""
    kind: ApiKind | None = None
    """The API to try; null tries all."""
    auth: str = Field(default="", max_length=LONGEST_NAME)
    headers: dict[str, str] = Field(default_factory=dict, max_length=20)


class DetectedModel(WireModel):
    """A model that a service offers."""

    name: str
    """The service's name of the model."""
    context_window: int | None


class DetectedProvider(WireModel):
    """The detected provider; nothing is stored yet."""

    id: ProviderId
    """The id under which it will be stored."""
    name: str
    kind: ApiKind
    url: str
    known: bool
    """Whether the catalogue has this provider with models: only its key is missing."""
    needs_key: bool
    """Whether the service refused to list its models without a key."""
    lists_models: bool
    models: tuple[DetectedModel, ...]


class PutProvider(CommandModel):
    """``PUT providers/{id}``: a provider of the user's own models.json."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    kind: ApiKind
    url: str = Field(min_length=1, max_length=2_000)
    key: str = Field(default="", max_length=4_096)
    """A new key; empty keeps the stored one, if any."""
    auth: str = Field(default="", max_length=LONGEST_NAME)
    headers: dict[str, str] = Field(default_factory=dict, max_length=20)
    list_models: bool = False
    """Whether all models the service lists are offered, including later ones."""
    models: tuple[str, ...] = Field(default=(), max_length=MOST_LISTED)
    """The models to offer, by the service's names."""
    model: str = ""
    """The model to test; empty for the first."""
    new: bool = False
    """Whether to refuse an id that another provider has."""
    untested: bool = False
    """Whether to store it without a test."""


class OwnProvider(WireModel):
    """``GET providers/{id}``: the provider's entry in the user's models.json."""

    id: ProviderId
    name: str
    kind: ApiKind
    url: str
    auth: str
    headers: dict[str, str]
    """Values that look like keys are masked; masked values sent back stay unchanged."""
    list_models: bool
    models: tuple[str, ...]


class SavedProvider(WireModel):
    """``POST providers/{id}/key`` and ``PUT providers/{id}``: tested, and stored unless refused."""

    stored: bool
    """Whether it is stored; if not, the earlier entry stays in use."""
    provider: ProviderHealth | None
    """Its current state; null for a new provider that was not stored."""
    test: ProviderTest | None
    """Null without a test: no model of the provider is set up, or no test was requested."""
