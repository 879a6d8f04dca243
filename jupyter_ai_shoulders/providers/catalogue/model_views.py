"""Models and providers as the picker and the settings show them. Pure; used by ``registry``."""

from __future__ import annotations

from urllib.parse import urlsplit

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ProviderSpec
from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal
from jupyter_ai_shoulders.providers.credentials.key_store import Key
from jupyter_ai_shoulders.providers.health import Health
from jupyter_ai_shoulders.providers.http.loopback import is_loopback
from jupyter_ai_shoulders.wire.api.responses import ModelInfo, Prices, ProviderHealth


def model_info(
    spec: ModelSpec, provider: ProviderSpec, refusal: InvalidRequest | PolicyRefusal | None
) -> ModelInfo:
    """Return a model; ``refusal`` is why it cannot answer."""
    return ModelInfo(
        id=spec.id,
        name=spec.name,
        provider=spec.provider,
        provider_name=provider.name,
        available=refusal is None,
        unavailable_reason=None if refusal is None else _reason(refusal),
        context_window=spec.context_window,
        max_output=spec.max_output,
        tools=spec.tools,
        images=spec.images,
        reasoning=spec.reasoning,
        prices=_prices(spec),
        roles=spec.roles,
        label=spec.label,
    )


def provider_health(
    provider: ProviderSpec, key: Key | None, health: Health, *, custom: bool
) -> ProviderHealth:
    """Return a provider's health; of its key, only whether it is set and its last characters.

    ``custom``: whether the user's own models.json has entries of it.
    """
    keyless = provider.needs_key and key is None
    return ProviderHealth(
        id=provider.id,
        name=provider.name,
        kind=provider.kind,
        key_set=key is not None,
        key_last4=None if key is None else key.last4,
        key_source="none" if key is None else key.source,
        key_name=provider.key_name if provider.needs_key else None,
        needs_key=provider.needs_key,
        host=_host(provider.url),
        local=is_loopback(provider.url),
        state="no_key" if keyless else health.state,
        error=None if keyless else health.error,
        custom=custom,
    )


def _host(url: str) -> str:
    """Return the host without parts that may be secret: user name, password, path, query."""
    return urlsplit(url).netloc.rpartition("@")[2] if "://" in url else ""


def _reason(refusal: InvalidRequest | PolicyRefusal) -> str:
    return " ".join(text for text in (refusal.info.message, refusal.info.hint) if text)


def _prices(spec: ModelSpec) -> Prices:
    table = spec.prices
    if table is None:
        return Prices(input=None, output=None, cache_read=None, cache_write=None)
    return Prices(
        input=table.input,
        output=table.output,
        cache_read=table.cache_read,
        cache_write=table.cache_write,
    )
