"""Makes targets: settings with variables expanded, keys found, connections shared.

The part of ``registry`` that knows the environment, the key store and the pools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import cast

from jupyter_ai_shoulders.core.catalogue import ModelSpec, ProviderSpec
from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal
from jupyter_ai_shoulders.core.redaction import Redactor
from jupyter_ai_shoulders.core.variables import MissingVariable, expand, variables_in
from jupyter_ai_shoulders.providers.failure import Service
from jupyter_ai_shoulders.providers.health import HealthBook
from jupyter_ai_shoulders.providers.http import Upstream
from jupyter_ai_shoulders.providers.keys import Key, KeyStore
from jupyter_ai_shoulders.providers.loopback import is_loopback
from jupyter_ai_shoulders.providers.message_cache import MessageCache
from jupyter_ai_shoulders.providers.target import Target
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId

_WHERE = {
    "environment": "from the environment",
    "keyring": "from the keyring",
    "file": "from ~/.shoulders/keys.env",
}


class Targets:
    """What a call to any provider needs."""

    def __init__(
        self,
        keys: KeyStore,
        environ: Mapping[str, str],
        ids: IdSource,
        health: HealthBook,
        *,
        now: Callable[[], datetime],
        new_upstream: Callable[[], Upstream],
        only_local: Callable[[], bool] = lambda: False,
    ) -> None:
        """``only_local`` says whether calls may reach this machine only."""
        self._keys = keys
        self._environ = environ
        self._ids = ids
        self._health = health
        self._now = now
        self._new_upstream = new_upstream
        self._only_local = only_local
        self._upstreams: dict[tuple[ProviderId, str], Upstream] = {}
        self._caches: dict[ModelId, tuple[ModelSpec, ProviderSpec, MessageCache]] = {}
        self.latest_redactor = Redactor()
        """Knows the keys of all calls that were begun."""
        self._redacted: frozenset[str] = frozenset()

    def make(self, model: ModelSpec, provider: ProviderSpec, redactor: Redactor) -> Target:
        """Return the target of a model whose provider can be called.

        Raises ``InvalidRequest`` (no_key) when it cannot, ``PolicyRefusal`` when it may not.
        """
        refusal = self.refusal(provider)
        if refusal is not None:
            raise refusal
        expanded = self._expanded(provider)
        name, key = self._found_key(provider)
        where = _WHERE[key.source] if key else "not set"
        service = Service(
            id=provider.id,
            name=provider.name,
            model=model.model,
            key=f"{name} ({where})",
            redact=redactor.redact,
            now=self._now,
        )
        return Target(
            provider=expanded,
            model=model,
            key=None if key is None else key.value,
            service=service,
            upstream=self._upstream(expanded),
            ids=self._ids,
            report=partial(self._health.report, provider.id),
            encoded=self._cache(model, provider),
            permit=partial(self._permit, provider),
        )

    def key(self, provider: ProviderSpec) -> Key | None:
        """Return the provider's key."""
        return self._found_key(provider)[1]

    def refusal(self, provider: ProviderSpec) -> InvalidRequest | PolicyRefusal | None:
        """Return why the provider cannot or may not be called, or None."""
        missing = self.missing(provider)
        if missing is not None or provider.kind == "demo" or not self._only_local():
            return missing
        return None if is_loopback(self._expanded(provider).url) else _not_local(provider)

    def missing(self, provider: ProviderSpec) -> InvalidRequest | None:
        """Return which key or variable the provider lacks, or None."""
        if provider.needs_key and self.key(provider) is None:
            return InvalidRequest(
                f"There is no key for {provider.name}.",
                code="no_key",
                hint=f"Set {provider.key_name} in the environment of the Jupyter server, or store"
                " a key in the AI settings.",
            )
        try:
            self._expanded(provider)
        except MissingVariable as error:
            return InvalidRequest(
                f"The settings of {provider.name} need {error.name}, which is not set.",
                code="no_key",
                hint=f"Set {error.name} in the environment of the Jupyter server.",
            )
        return None

    def redactor(self, providers: Iterable[ProviderSpec]) -> Redactor:
        """Return the redactor that knows the secrets in use now."""
        secrets = frozenset(self._secrets(tuple(providers)))
        if secrets != self._redacted:
            self.latest_redactor = Redactor(secrets)
            self._redacted = secrets
        return self.latest_redactor

    async def aclose(self) -> None:
        """Close all connections."""
        upstreams = list(self._upstreams.values())
        self._upstreams.clear()
        for upstream in upstreams:
            await upstream.aclose()

    def _permit(self, provider: ProviderSpec, url: str) -> None:
        """Raise ``PolicyRefusal`` where calls may reach this machine only, and this would not."""
        if self._only_local() and not is_loopback(url):
            raise _not_local(provider)

    def _found_key(self, provider: ProviderSpec) -> tuple[str, Key | None]:
        """Return the first name that has a key, with the key."""
        if provider.auth != "none":
            for name in provider.key_names:
                key = self._keys.get(name)
                if key is not None:
                    return name, key
        return provider.key_name, None

    def _secrets(self, providers: tuple[ProviderSpec, ...]) -> Iterator[str]:
        yield from self._keys.values(name for spec in providers for name in spec.key_names)
        for provider in providers:
            for value in (*provider.headers.values(), *provider.query.values(), provider.url):
                for name in variables_in(value):
                    yield self._environ.get(name, "")

    def _expanded(self, provider: ProviderSpec) -> ProviderSpec:
        values = {
            "url": provider.url,
            "headers": provider.headers,
            "query": provider.query,
        }
        return provider.model_copy(update=cast("dict[str, object]", expand(values, self._environ)))

    def _cache(self, model: ModelSpec, provider: ProviderSpec) -> MessageCache:
        """Return the model's cache; a new one when its settings have changed."""
        known = self._caches.get(model.id)
        if known is None or known[0] is not model or known[1] is not provider:
            known = (model, provider, MessageCache())
            self._caches[model.id] = known
        return known[2]

    def _upstream(self, provider: ProviderSpec) -> Upstream:
        place = (provider.id, provider.url)
        if place not in self._upstreams:
            self._upstreams[place] = self._new_upstream()
        return self._upstreams[place]


def _not_local(provider: ProviderSpec) -> PolicyRefusal:
    """Return why a provider on another machine is not called in the mode ``local``."""
    return PolicyRefusal(
        f"{provider.name} is not on this machine, and the settings allow only local models. Nothing"
        " was sent.",
        code="disabled",
        hint="Choose a local model, or set Mode to Auto or Remote in the AI settings under Models"
        " (models.mode). If it is locked there, ask your administrator.",
        setting="models.mode",
    )
