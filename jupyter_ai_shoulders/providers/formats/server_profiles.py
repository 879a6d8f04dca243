"""The habits of servers that speak Chat Completions; data, read by ``encode`` and ``decode``.

Facts from reference §3. A provider names its profile in models.json, or its host name tells.
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
    """What to send to a server, and what to put up with."""

    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    stream_usage: bool = True
    """Whether ``stream_options.include_usage`` is accepted."""
    effort: Literal["reasoning_effort", "reasoning"] = "reasoning_effort"
    """Where the thinking effort goes; ``reasoning`` is OpenRouter's object."""
    echo: Literal["nothing", "reasoning_content", "reasoning_details"] = "nothing"
    """Which reasoning field of an answer must come back with it."""
    short_call_ids: bool = False
    """Call ids must be nine letters or digits."""
    cache_key: bool = False
    """Whether ``prompt_cache_key`` is known."""
    named_choice: bool = True
    """Whether a tool can be demanded by name; else some tool is, which is the same of one."""
    listing: Literal["models", "lmstudio", "llamacpp"] = "models"
    """Where to ask what the models can do, beside ``GET /models``."""
    fill_in: FillStyle | None = None
    """How the server is asked to fill in the middle of a text; None where it cannot be."""
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
    """Return the profile the provider names, or the one of its host."""
    if provider.profile != "auto":
        return PROFILES[provider.profile]
    host = urlsplit(provider.url).hostname or ""
    return PROFILES[_HOSTS.get(host, "generic")]
