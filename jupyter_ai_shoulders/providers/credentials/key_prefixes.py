"""Recognises whose key it is by its first characters; pure, used by ``setup``.

Forms: ``core/redaction/secret_patterns.json`` names their sources. A form that several services
use, as a plain ``sk-``, names nobody.
"""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_ai_shoulders.core.catalogue.specs import ProviderSpec
from jupyter_ai_shoulders.wire.ids import ProviderId

_STARTS: tuple[tuple[str, str], ...] = (
    ("sk-ant-", "anthropic"),
    ("sk-or-", "openrouter"),
    ("sk-proj-", "openai"),
    ("sk-svcacct-", "openai"),
    ("sk-admin-", "openai"),
    ("sk-service-", "openai"),
    ("AIza", "google"),
    ("gsk_", "groq"),
    ("xai-", "xai"),
    ("csk-", "cerebras"),
)


def vendor_of(key: str) -> ProviderId | None:
    """Return the provider whose keys begin like this one, None where several do."""
    return next((ProviderId(name) for start, name in _STARTS if key.startswith(start)), None)


def _service(name: str, title: str, url: str) -> tuple[ProviderId, ProviderSpec]:
    spec = ProviderSpec(
        id=ProviderId(name),
        name=title,
        kind="openai_chat",
        url=url,
        api_key_env=f"{name.upper()}_API_KEY",
        list_models=True,
    )
    return spec.id, spec


MORE_SERVICES: Mapping[ProviderId, ProviderSpec] = dict(
    (
        _service("groq", "Groq", "https://api.groq.com/openai/v1"),
        _service("xai", "xAI", "https://api.x.ai/v1"),
        _service("cerebras", "Cerebras", "https://api.cerebras.ai/v1"),
    )
)
"""Services that the shipped catalogue does not have; *Add provider* writes them for the user."""
