"""Values of the model catalogue: providers, models and their capabilities.

Built by ``core.catalogue.merge`` from the shipped ``models.json`` and the user's; read by
``providers.registry``, by the adapters (what a model accepts) and by ``engine`` (windows, prices).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal
from urllib.parse import urlsplit

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator

from jupyter_ai_shoulders.core.catalogue.key_variables import default_key_name, provider_variables
from jupyter_ai_shoulders.core.catalogue.prices import PriceTable, prices_on
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId

ProviderKind = Literal["anthropic", "openai_responses", "openai_chat", "google", "ollama", "demo"]
"""Wire formats; each has an adapter, see ``providers.adapter_factory``."""

ThinkingLevel = Literal["none", "low", "medium", "high", "default"]
Effort = Literal["minimal", "low", "medium", "high", "xhigh", "max"]
TokenFamily = Literal["anthropic", "openai", "google", "other"]
ServerProfile = Literal[
    "auto",
    "generic",
    "openai",
    "openrouter",
    "deepseek",
    "mistral",
    "vllm",
    "llamacpp",
    "lmstudio",
    "lenient",
]
"""Server-specific behaviour within one format, see ``providers.formats.server_profiles``."""

SMALL_WINDOW = 128_000
LARGE_WINDOW = 200_000
"""Assumed context windows of models whose window is unknown."""


class CatalogueModel(BaseModel):
    """A frozen value of the catalogue; rejects unknown keys so that typos are found."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class ThinkingSupport(CatalogueModel):
    """How a model is asked to think, and not to think; see docs/design/providers.md."""

    mode: Literal["none", "adaptive", "budget", "effort"] = "none"
    """``adaptive`` is Anthropic's; ``budget`` is used by Anthropic and older Gemini models;
    ``effort`` is a word: OpenAI's ``reasoning_effort``, Gemini's ``thinkingLevel``, Ollama's
    ``think``.
    """
    off: Literal["omit", "disabled", "between_tools", "impossible"] = "omit"
    """How level ``none`` is sent; ``impossible``: the model always thinks, so request the least."""
    efforts: tuple[Effort, ...] = ()
    """Efforts the model accepts; empty: the parameter is never sent."""
    bound: bool = False
    """Thinking blocks are valid only after the exact prefix they were created with."""


class ModelSpec(CatalogueModel):
    """A selectable model: a merged and complete entry of the catalogue."""

    id: ModelId
    name: str
    provider: ProviderId
    model: str
    """The provider's name of the model."""
    family: TokenFamily = "other"
    """For token estimates; defaults to the provider's kind."""
    context_window: int | None = Field(default=None, gt=0)
    max_output: int | None = Field(default=None, gt=0)
    prices: PriceTable | None = None
    tools: bool = True
    images: bool = False
    forced_tool: Literal["yes", "no", "without_thinking"] = "yes"
    """Whether a call can be forced; if not, structured answers are requested in plain words."""
    structured_output: bool = False
    """Whether the model follows a JSON Schema response format."""
    fill_in: bool = False
    """Whether the model supports fill-in-the-middle and its server can request it."""
    thinking: ThinkingLevel = "default"
    """The level used when the user has not chosen one."""
    thinking_budget: int | None = Field(default=None, ge=1024)
    """Tokens, for ``mode: budget``; overrides the level's own."""
    thinking_support: ThinkingSupport = ThinkingSupport()
    verbosity: Literal["low", "medium", "high"] | None = None
    cache: bool = True
    roles: tuple[str, ...] = ()
    """Single calls the model is suited for: ``ghost``, ``cheap``. ``embedding``: it is an embedding
    model and cannot chat.
    """
    label: str | None = None
    """A remark shown beside the name."""

    @property
    def window(self) -> int:
        """The context window in tokens, with a default when unknown."""
        if self.context_window is not None:
            return self.context_window
        return SMALL_WINDOW if self.family == "other" else LARGE_WINDOW

    def priced_on(self, day: date) -> ModelSpec:
        """Return the model with the prices of a day."""
        if self.prices is None or not self.prices.changes:
            return self
        return self.model_copy(update={"prices": prices_on(self.prices, day)})

    @property
    def reasoning(self) -> bool:
        """Whether the model can be asked to think."""
        return self.thinking_support.mode != "none"


class ProviderSpec(CatalogueModel):
    """A configured model service. Values may contain ``${NAME}``, expanded for each client."""

    id: ProviderId
    name: str
    kind: ProviderKind
    url: str = ""
    """The API root (``…/v1``); a full endpoint URL is accepted too."""
    api_key_env: str | None = Field(
        default=None, validation_alias=AliasChoices("api_key_env", "apiKeyEnv")
    )
    """Name of the variable that holds the key; None if the service needs no key."""
    other_key_envs: tuple[str, ...] = ()
    """Alternative variables, used in order when the first is empty."""
    auth: str = Field(default="", pattern=r"^(|bearer|none|header:[A-Za-z0-9-]+)$")
    """``bearer``, ``header:<name>`` or ``none``; empty for the kind's default."""
    headers: dict[str, str] = Field(default_factory=dict)
    query: dict[str, str] = Field(default_factory=dict)
    profile: ServerProfile = "auto"
    """Server-specific behaviour (``openai_chat``); ``auto`` chooses by host name."""
    list_models: bool = False
    """Whether the catalogue includes all models the service lists, as with Ollama."""
    connect_timeout: float = Field(default=5.0, gt=0)
    idle_timeout: float = Field(default=120.0, gt=0)
    """Seconds without a byte after which a stream is aborted."""
    total_timeout: float = Field(default=300.0, gt=0)
    """Maximum duration of one call in seconds."""

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        try:
            urlsplit(url)
        except ValueError as error:
            raise ValueError(f"it is no address ({error})") from error
        return url

    @property
    def key_name(self) -> str:
        """Name under which the provider's key is looked up and stored."""
        return self.api_key_env or default_key_name(self.id)

    @property
    def key_names(self) -> tuple[str, ...]:
        """All names of the key; it is stored under the first."""
        return (self.key_name, *self.other_key_envs)

    @property
    def lists_its_models(self) -> bool:
        """Whether the provider's models are those the service lists."""
        return self.list_models or self.kind == "ollama"

    def listed_name(self, model_id: ModelId) -> str | None:
        """Return the provider's name of a model it may list, from ``PROVIDER/NAME``; else None."""
        name = model_id.removeprefix(f"{self.id}/")
        return name if self.lists_its_models and name not in {model_id, ""} else None

    @property
    def secret_variables(self) -> frozenset[str]:
        """Names of the variables that hold a key or are part of requests."""
        return provider_variables(self.id, dict(self))

    @property
    def needs_key(self) -> bool:
        """Whether the service refuses calls without a key."""
        return self.api_key_env is not None and self.auth != "none"


@dataclass(frozen=True, slots=True)
class CatalogueProblem:
    """A problem of a configuration source; the rest of the source is used."""

    source: str
    """A file name as shown to the user, or the name of the setting."""
    line: int | None
    message: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Providers and models after merging, in order of preference."""

    default: ModelId | None
    """May be a model its service has not listed yet."""
    providers: Mapping[ProviderId, ProviderSpec]
    models: Mapping[ModelId, ModelSpec]
    """The models that can chat."""
    problems: tuple[CatalogueProblem, ...] = ()
    embedders: Mapping[ModelId, ModelSpec] = field(default_factory=dict[ModelId, ModelSpec])
    """The embedding models."""

    def spec(self, model_id: ModelId) -> ModelSpec | None:
        """Return the model of this id, of either kind."""
        return self.models.get(model_id) or self.embedders.get(model_id)

    def all_models(self) -> tuple[ModelSpec, ...]:
        """Return the models of both kinds."""
        return (*self.models.values(), *self.embedders.values())
