"""Requests and responses for adding, changing and removing providers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.api.responses import ProviderHealth, ProviderTest
from jupyter_ai_shoulders.wire.base import CommandModel, WireModel
from jupyter_ai_shoulders.wire.ids import ProviderId

ApiKind = Literal["anthropic", "openai_responses", "openai_chat", "google", "ollama"]
"""The APIs that a provider may speak."""

LONGEST_NAME = 200
MOST_LISTED = 1_000
"""Models that one request or answer names."""


class DetectProvider(CommandModel):
    """``POST providers/detect``: whose key this is, or what answers at an address."""

    address: str = Field(default="", max_length=2_000)
    key: str = Field(default="", max_length=4_096)
    """Sent to ``address``, or where there is none, to the service that gave it out."""
    provider: ProviderId | None = None
    """Whose key it is, where its form does not say."""
    kind: ApiKind | None = None
    """The API to ask for; null: whichever answers."""
    auth: str = Field(default="", max_length=LONGEST_NAME)
    headers: dict[str, str] = Field(default_factory=dict, max_length=20)


class DetectedModel(WireModel):
    """A model that a service offers."""

    name: str
    """The service's own name for it."""
    context_window: int | None


class DetectedProvider(WireModel):
    """What was found; nothing is stored yet."""

    id: ProviderId
    """Under which it will be stored."""
    name: str
    kind: ApiKind
    url: str
    known: bool
    """Whether there is such a provider with models: only its key is missing."""
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
    """A new key; empty: the stored one stays, if there is one."""
    auth: str = Field(default="", max_length=LONGEST_NAME)
    headers: dict[str, str] = Field(default_factory=dict, max_length=20)
    list_models: bool = False
    """Whether all the models that it lists are offered, also later ones."""
    models: tuple[str, ...] = Field(default=(), max_length=MOST_LISTED)
    """The models to offer, by the service's names."""
    model: str = ""
    """Which of them to try; empty: the first."""
    new: bool = False
    """Refused where a provider has this id already."""
    untested: bool = False
    """Store it without a test."""


class OwnProvider(WireModel):
    """``GET providers/{id}``: what the user's models.json says of a provider."""

    id: ProviderId
    name: str
    kind: ApiKind
    url: str
    auth: str
    headers: dict[str, str]
    """Values that look like keys are masked; sent back so, they stay as they are."""
    list_models: bool
    models: tuple[str, ...]


class SavedProvider(WireModel):
    """``POST providers/{id}/key`` and ``PUT providers/{id}``: tried, and stored if not refused."""

    stored: bool
    """Whether it is stored; else what was stored before stays in use."""
    provider: ProviderHealth | None
    """As it is now; null for a new one that was not stored."""
    test: ProviderTest | None
    """Null where nothing was tried: no model of the provider is set up, or none was wanted."""
