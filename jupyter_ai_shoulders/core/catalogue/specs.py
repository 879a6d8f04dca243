"""The values of the model catalogue: what providers and models are, and what each can do.

Built by ``core.catalogue.merge`` from the shipped ``models.json`` and the user's; read by
``providers.registry``, by the adapters (what a model accepts) and by ``engine`` (windows, prices).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator

from jupyter_ai_shoulders.core.catalogue.key_variables import default_key_name, provider_variables
from jupyter_ai_shoulders.core.catalogue.prices import PriceTable
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
"""Habits of servers of one format, see ``providers.formats.server_profiles``."""

SMALL_WINDOW = 128_000
LARGE_WINDOW = 200_000
"""Assumed windows where a model's is unknown (chapter 04)."""


class CatalogueModel(BaseModel):
    """A frozen value of the catalogue; unknown keys are refused so that typos are found."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class ThinkingSupport(CatalogueModel):
    """How a model is asked to think, and how not to (reference §1.4, §2.4, §3, §4, §5)."""

    mode: Literal["none", "adaptive", "budget", "effort"] = "none"
    """``adaptive`` is Anthropic's; ``budget`` Anthropic's and older Gemini models'; ``effort`` is a
    word: OpenAI's ``reasoning_effort``, Gemini's ``thinkingLevel``, Ollama's ``think``."""
    off: Literal["omit", "disabled", "between_tools", "impossible"] = "omit"
    """What level ``none`` sends; ``impossible``: the model always thinks, so ask for the least."""
    efforts: tuple[Effort, ...] = ()
    """Efforts the model accepts; empty: the parameter is never sent."""
    bound: bool = False
    """Thinking blocks are valid only after the exact prefix they were made with."""


class ModelSpec(CatalogueModel):
    """A model the user can pick: an entry of the catalogue, merged and complete."""

    id: ModelId
    name: str
    provider: ProviderId
    model: str
    """The provider's own name for it."""
    family: TokenFamily = "other"
    """For token estimates; follows the provider's kind."""
    context_window: int | None = Field(default=None, gt=0)
    max_output: int | None = Field(default=None, gt=0)
    prices: PriceTable | None = None
    tools: bool = True
    images: bool = False
    forced_tool: Literal["yes", "no", "without_thinking"] = "yes"
    """Whether a call can be forced; where not, structured answers are asked for in plain words."""
    structured_output: bool = False
    """Whether the model follows a JSON Schema response format."""
    fill_in: bool = False
    """Whether it was made to fill in the middle of a text, and its server has a way to ask."""
    thinking: ThinkingLevel = "default"
    """The level used when the user chose none."""
    thinking_budget: int | None = Field(default=None, ge=1024)
    """Tokens, for ``mode: budget``; replaces the level's own."""
    thinking_support: ThinkingSupport = ThinkingSupport()
    verbosity: Literal["low", "medium", "high"] | None = None
    cache: bool = True
    roles: tuple[str, ...] = ()
    """What it is good for in single calls: ``ghost``, ``cheap``."""
    label: str | None = None
    """A remark that must stand beside the name."""

    @property
    def window(self) -> int:
        """The context window in tokens, assumed where unknown."""
        if self.context_window is not None:
            return self.context_window
        return SMALL_WINDOW if self.family == "other" else LARGE_WINDOW

    @property
    def reasoning(self) -> bool:
        """Whether the model can be asked to think."""
        return self.thinking_support.mode != "none"


class ProviderSpec(CatalogueModel):
    """A configured model service. Values may hold ``${NAME}``, expanded when a client is made."""

    id: ProviderId
    name: str
    kind: ProviderKind
    url: str = ""
    """The API root (``…/v1``); a full endpoint URL is accepted too."""
    api_key_env: str | None = Field(
        default=None, validation_alias=AliasChoices("api_key_env", "apiKeyEnv")
    )
    """Name of the variable that holds the key; None: the service needs none."""
    other_key_envs: tuple[str, ...] = ()
    """Further names of that variable, looked at where the first has nothing."""
    auth: str = Field(default="", pattern=r"^(|bearer|none|header:[A-Za-z0-9-]+)$")
    """``bearer``, ``header:<name>`` or ``none``; empty: the kind's own way."""
    headers: dict[str, str] = Field(default_factory=dict)
    query: dict[str, str] = Field(default_factory=dict)
    profile: ServerProfile = "auto"
    """Which server's habits to expect (``openai_chat``); ``auto`` goes by the host name."""
    list_models: bool = False
    """Whether all the models the service says it has are in the catalogue, as with Ollama."""
    connect_timeout: float = Field(default=5.0, gt=0)
    idle_timeout: float = Field(default=120.0, gt=0)
    """Seconds without a byte before a stream is given up."""
    total_timeout: float = Field(default=300.0, gt=0)
    """Seconds one call may take."""

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
        """Name under which a key for this provider is looked up and stored."""
        return self.api_key_env or default_key_name(self.id)

    @property
    def key_names(self) -> tuple[str, ...]:
        """All names a key may have; it is stored under the first."""
        return (self.key_name, *self.other_key_envs)

    @property
    def lists_its_models(self) -> bool:
        """Whether the provider's models are the ones it says it has."""
        return self.list_models or self.kind == "ollama"

    def listed_name(self, model_id: ModelId) -> str | None:
        """Return the provider's own name of a model it may list, ``PROVIDER/NAME``; else None."""
        name = model_id.removeprefix(f"{self.id}/")
        return name if self.lists_its_models and name not in {model_id, ""} else None

    @property
    def secret_variables(self) -> frozenset[str]:
        """Names of the variables that hold a key or are part of what the service is sent."""
        return provider_variables(self.id, dict(self))

    @property
    def needs_key(self) -> bool:
        """Whether the service refuses calls without a key."""
        return self.api_key_env is not None and self.auth != "none"


@dataclass(frozen=True, slots=True)
class CatalogueProblem:
    """Something wrong in a configuration source; the rest of it is used."""

    source: str
    """A file name as shown to the user, or the name of the setting."""
    line: int | None
    message: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Providers and models after merging, in order of preference."""

    default: ModelId | None
    """May be one that its service has not listed yet."""
    providers: Mapping[ProviderId, ProviderSpec]
    models: Mapping[ModelId, ModelSpec]
    problems: tuple[CatalogueProblem, ...] = ()
