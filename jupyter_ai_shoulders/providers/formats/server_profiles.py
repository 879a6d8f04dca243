"""Profiles of Chat Completions servers, by their deviations; used by ``encode`` and ``decode``.

A provider names its profile in models.json, or it follows from the host name. See
docs/design/providers.md#chat-completions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from jupyter_ai_shoulders.core.catalogue.specs import ProviderSpec, ServerProfile

FillStyle = Literal["mistral", "deepseek", "llamacpp"]


@dataclass(frozen=True, slots=True)
class Profile:
    """What a server accepts, requires and omits."""

    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    stream_usage: bool = True
    """Whether ``stream_options.include_usage`` is accepted."""
    effort: Literal["reasoning_effort", "reasoning"] = "reasoning_effort"
    """The field of the thinking effort; ``reasoning`` is OpenRouter's object."""
    echo: Literal["nothing", "reasoning_content", "reasoning_details"] = "nothing"
    """The reasoning field of an answer that must be sent back."""
    short_call_ids: bool = False
    """Call ids must be nine letters or digits."""
    cache_key: bool = False
    """Whether ``prompt_cache_key`` is accepted."""
    named_choice: bool = True
    """Whether a tool can be required by name; else any tool is, which is equivalent for one tool.
    """
    listing: Literal["models", "lmstudio", "llamacpp"] = "models"
    """The endpoint that lists capabilities, in addition to ``GET /models``."""
    fill_in: FillStyle | None = None
    """The style of fill-in-the-middle requests; None where there is none."""
    may_end_silently: bool = False
    """Streams may end without ``[DONE]``, or without a finish reason."""


PROFILES: Mapping[ServerProfile, Profile] = {
    "generic": Profile(),
    "openai": Profile(max_tokens="max_completion_tokens", cache_key=True),
    "openrouter": Profile(effort="reasoning", echo="reasoning_details"),
    "deepseek": Profile(echo="reasoning_content", fill_in="deepseek"),
    "mistral": Profile(stream_usage=False, short_call_ids=True, fill_in="mistral"),
    "vllm": Profile(),
    "llamacpp": Profile(named_choice=False, listing="llamacpp", fill_in="llamacpp"),
    "lmstudio": Profile(named_choice=False, listing="lmstudio"),
    "lenient": Profile(stream_usage=False, may_end_silently=True),
}

_HOSTS: Mapping[str, ServerProfile] = {
    "api.openai.com": "openai",
    "openrouter.ai": "openrouter",
    "api.deepseek.com": "deepseek",
    "api.mistral.ai": "mistral",
}


def profile_of(provider: ProviderSpec) -> Profile:
    """Return the profile that the provider names, or that of its host."""
    if provider.profile != "auto":
        return PROFILES[provider.profile]
    host = urlsplit(provider.url).hostname or ""
    return PROFILES[_HOSTS.get(host, "generic")]
