"""Resolves endpoints: expands variables in the settings, finds keys, shares connections.

Used by ``registry`` and ``setup``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import cast

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ProviderSpec
from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal, ProviderError
from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.core.variable_expansion import (
    MissingVariable,
    expand_variables,
    variables_in,
)
from jupyter_ai_shoulders.core.web_services import KEY_VARIABLES
from jupyter_ai_shoulders.providers.credentials.key_store import Key, KeyStore
from jupyter_ai_shoulders.providers.health import HealthTracker
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.error_mapping import CalledService
from jupyter_ai_shoulders.providers.http.loopback import is_loopback
from jupyter_ai_shoulders.providers.http.upstream import Upstream
from jupyter_ai_shoulders.providers.message_cache import MessageCache
from jupyter_ai_shoulders.wire.errors import ErrorCode
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId

CANDIDATE_HINTS: Mapping[ErrorCode, str] = {
    "authentication": "Copy the key again from the page of {name}, and check that it is a key of"
    " this service.",
    "permission": "Check what the key may do on the page of {name}, or use another key.",
    "provider_unreachable": "Check the address and the network, and that the server is running.",
    "provider_protocol": "Check the address and the kind of API.",
    "model_not_found": "Pick another model, or check its name.",
    "provider_timeout": "Try again, or check that the server is running.",
}
"""Hints for errors of a provider or a key that is not stored yet."""
_WHERE = {
    "environment": "from the environment",
    "keyring": "from the keyring",
    "file": "from ~/.shoulders/keys.env",
}


class EndpointResolver:
    """Resolves the endpoints of all providers."""

    def __init__(
        self,
        keys: KeyStore,
        environ: Mapping[str, str],
        ids: IdSource,
        health: HealthTracker,
        *,
        now: Callable[[], datetime],
        new_upstream: Callable[[], Upstream],
        only_local: Callable[[], bool] = lambda: False,
    ) -> None:
        """``only_local`` returns whether only this machine may be called."""
        self._keys = keys
        self._environ = environ
        self._ids = ids
        self._health = health
        self._now = now
        self._new_upstream = new_upstream
        self._only_local = only_local
        self._upstreams: dict[tuple[ProviderId, str], Upstream] = {}
        self._caches: dict[ModelId, tuple[ModelSpec, ProviderSpec, MessageCache]] = {}
        self.cached_redactor = Redactor()
        """Knows the keys of all calls that were started."""
        self._redacted: frozenset[str] = frozenset()
        self._candidate_keys: list[str] = []
        self._secret_sources: list[Callable[[], Iterable[str]]] = []

    def add_secret_source(self, source: Callable[[], Iterable[str]]) -> None:
        """Redact the values that a source returns too."""
        self._secret_sources.append(source)

    def make(self, model: ModelSpec, provider: ProviderSpec, redactor: Redactor) -> Endpoint:
        """Return the endpoint of a model.

        Raises ``InvalidRequest`` (no_key) where its provider cannot be called, ``PolicyRefusal``
        where it must not be.
        """
        refusal = self.refusal(provider)
        if refusal is not None:
            raise refusal
        name, key = self._found_key(provider)
        where = _WHERE[key.source] if key else "not set"
        return self._endpoint(model, provider, redactor, key and key.value, f"{name} ({where})")

    def make_candidate(
        self, model: ModelSpec, provider: ProviderSpec, redactor: Redactor, key: str | None
    ) -> Endpoint:
        """Return an endpoint for a provider or a key that is not stored yet.

        Its calls do not affect the recorded health of the provider. Raises ``PolicyRefusal``, and
        ``InvalidRequest`` for a variable that is not set.
        """
        refusal = self.refusal(provider, has_key=True)
        if refusal is not None:
            raise refusal
        endpoint = self._endpoint(model, provider, redactor, key, "the one you gave")
        service = replace(endpoint.service, hints=CANDIDATE_HINTS)
        return replace(endpoint, service=service, report=_ignore)

    @contextlib.contextmanager
    def redact_candidate_key(self, key: str | None) -> Generator[None]:
        """Redact a key while it is being tested."""
        self._candidate_keys.append(key or "")
        try:
            yield
        finally:
            self._candidate_keys.remove(key or "")

    def _endpoint(
        self,
        model: ModelSpec,
        provider: ProviderSpec,
        redactor: Redactor,
        key: str | None,
        key_place: str,
    ) -> Endpoint:
        expanded = self._expanded(provider)
        service = CalledService(
            id=provider.id,
            name=provider.name,
            model=model.model,
            key=key_place,
            redact=redactor.redact,
            now=self._now,
        )
        return Endpoint(
            provider=expanded,
            model=model,
            key=key,
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

    def refusal(
        self, provider: ProviderSpec, *, has_key: bool = False
    ) -> InvalidRequest | PolicyRefusal | None:
        """Return why the provider cannot or must not be called, or None.

        ``has_key``: the caller supplies the key, if there is one.
        """
        missing = self.missing(provider, has_key=has_key)
        if missing is not None or provider.kind == "demo" or not self._only_local():
            return missing
        return None if is_loopback(self._expanded(provider).url) else _not_local(provider)

    def missing(self, provider: ProviderSpec, *, has_key: bool = False) -> InvalidRequest | None:
        """Return which key or variable the provider lacks, or None."""
        if provider.needs_key and not has_key and self.key(provider) is None:
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
            self.cached_redactor = Redactor(secrets)
            self._redacted = secrets
        return self.cached_redactor

    async def aclose(self) -> None:
        """Close all connections."""
        upstreams = list(self._upstreams.values())
        self._upstreams.clear()
        for upstream in upstreams:
            await upstream.aclose()

    def _permit(self, provider: ProviderSpec, url: str) -> None:
        """Raise ``PolicyRefusal`` for another machine's address where only this machine may be
        called.
        """
        if self._only_local() and not is_loopback(url):
            raise _not_local(provider)

    def _found_key(self, provider: ProviderSpec) -> tuple[str, Key | None]:
        """Return the first variable name that has a key, with the key."""
        if provider.auth != "none":
            for name in provider.key_names:
                key = self._keys.get(name)
                if key is not None:
                    return name, key
        return provider.key_name, None

    def _secrets(self, providers: tuple[ProviderSpec, ...]) -> Iterator[str]:
        yield from self._candidate_keys
        for source in self._secret_sources:
            yield from source()
        yield from self._keys.values(name for spec in providers for name in spec.key_names)
        yield from self._keys.values(KEY_VARIABLES)
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
        return provider.model_copy(
            update=cast("dict[str, object]", expand_variables(values, self._environ))
        )

    def _cache(self, model: ModelSpec, provider: ProviderSpec) -> MessageCache:
        """Return the model's message cache; a new one when its settings have changed."""
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


def _ignore(_: ProviderError | None) -> None:
    """Discard the outcome of a test call."""


def _not_local(provider: ProviderSpec) -> PolicyRefusal:
    """Return the error for a provider on another machine in the mode ``local``."""
    return PolicyRefusal(
        f"{provider.name} is not on this machine, and the settings allow only local models. Nothing"
        " was sent.",
        code="disabled",
        hint="Choose a local model, or set Mode to Auto or Remote in the AI settings under Models"
        " (models.mode). If it is locked there, ask your administrator.",
        setting="models.mode",
    )
