"""Identifies a pasted key or address, and the models available with it. Used by ``setup``.

A key is sent only to the address it was given for; one whose prefix identifies a vendor, only to
that vendor.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from jupyter_ai_shoulders.core.catalogue.key_variables import default_key_name
from jupyter_ai_shoulders.core.catalogue.specs import ProviderSpec
from jupyter_ai_shoulders.core.catalogue.trust_items import url_host
from jupyter_ai_shoulders.core.errors import InvalidRequest, ShouldersError
from jupyter_ai_shoulders.providers.catalogue.listed_models import catalogue_entries
from jupyter_ai_shoulders.providers.configured_providers import ConfiguredProviders
from jupyter_ai_shoulders.providers.credentials.key_vendors import KeyVendors
from jupyter_ai_shoulders.providers.http.loopback import is_loopback
from jupyter_ai_shoulders.providers.http.upstream import Upstream
from jupyter_ai_shoulders.providers.setup.api_detection import detect_api
from jupyter_ai_shoulders.providers.setup.candidate_check import CandidateCheck
from jupyter_ai_shoulders.providers.setup.server_address import check_headers, server_url
from jupyter_ai_shoulders.wire.api.provider_setup import (
    MOST_LISTED,
    DetectedModel,
    DetectedProvider,
    DetectProvider,
)
from jupyter_ai_shoulders.wire.ids import ProviderId

_NEW = ProviderId("new")


class ProviderDetector:
    """Queries vendors and servers; stores nothing."""

    def __init__(
        self,
        providers: ConfiguredProviders,
        candidates: CandidateCheck,
        vendors: KeyVendors,
        *,
        new_upstream: Callable[[], Upstream],
    ) -> None:
        self._providers = providers
        self._candidates = candidates
        self._vendors = vendors
        self._new_upstream = new_upstream

    async def detect(self, asked: DetectProvider) -> DetectedProvider:
        """Return the vendor of a key, or the API at an address; stores nothing.

        Raises ``InvalidRequest``, ``ProviderError`` or ``PolicyRefusal``.
        """
        key = asked.key.strip()
        if not asked.address.strip():
            return await self._detect_vendor(self._vendors.for_key(asked.provider, key), key)
        url = server_url(asked.address)
        check_headers(asked.headers, self._providers.redactor())
        official = self._vendors.by_url(url)
        self._vendors.check_destination(key, url)
        if official is not None and not asked.headers and asked.kind in {None, official.kind}:
            return await self._detect_vendor(official, key)
        return await self._detect_server(url, asked, key)

    async def _detect_vendor(self, spec: ProviderSpec, key: str) -> DetectedProvider:
        """Return a vendor's models, from its own address only."""
        current = self._providers.catalogue()
        here = current.providers.get(spec.id)
        if here is not None and url_host(here.url) != url_host(spec.url):
            raise InvalidRequest(
                f"Your settings ask for {spec.name} at {url_host(here.url)}, not at"
                f" {url_host(spec.url)}. Nothing was sent.",
                hint=f"Paste the key into the field of {here.name} below.",
            )
        own = [model for model in current.models.values() if model.provider == spec.id]
        if spec.needs_key and not key:
            return _detected(spec, known=bool(own), needs_key=True)
        listed = catalogue_entries(spec, await self._candidates.list_models(spec, key or None))
        known = [{"model": model.model, "context_window": model.context_window} for model in own]
        return _detected(spec, known=bool(own), listed=known or listed)

    async def _detect_server(self, url: str, asked: DetectProvider, key: str) -> DetectedProvider:
        spec = _spec(
            id=_NEW,
            name=url_host(url) or url,
            kind=asked.kind or "openai_chat",
            url=url,
            auth=asked.auth,
            headers=asked.headers,
            api_key_env="THE_KEY" if key else None,
            list_models=True,
        )
        answered = await detect_api(
            spec,
            asked.kind,
            lambda each: self._candidates.endpoint(each, key or None),
            self._new_upstream,
        )
        spec = spec.model_copy(update={"kind": answered.kind, "url": answered.url})
        if answered.wants_key and key:
            raise InvalidRequest(
                f"{spec.name} did not accept the key.",
                code="authentication",
                hint="Check the key. If the server expects it in a header of its own, name the"
                " header under More options.",
            )
        known = self._at(spec)
        spec = spec.model_copy(update={"id": known.id, "name": known.name} if known else {})
        if answered.wants_key:
            return await self._named(_detected(spec, needs_key=True), known)
        try:
            listed = catalogue_entries(spec, await self._candidates.list_models(spec, key or None))
        except ShouldersError:
            listed = []
        return await self._named(_detected(spec, listed=listed), known)

    async def _named(self, found: DetectedProvider, known: ProviderSpec | None) -> DetectedProvider:
        if known is not None:
            return found.model_copy(update={"known": True})
        return found.model_copy(update={"id": await asyncio.to_thread(self._free_id, found.url)})

    def _at(self, found: ProviderSpec) -> ProviderSpec | None:
        """Return the configured provider with this API at this address, if there is one."""
        known = self._providers.catalogue().providers.values()
        same = (spec for spec in known if spec.kind == found.kind)
        return next((spec for spec in same if spec.url.rstrip("/") == found.url), None)

    def _free_id(self, url: str) -> ProviderId:
        parts = urlsplit(url)
        near = is_loopback(url)
        name = f"local-{parts.port or 80}" if near else parts.hostname or "server"
        slug = re.sub(r"[^a-z0-9]+", "-", name.removeprefix("api.").lower()).strip("-")[:50]
        taken = self._providers.catalogue().providers
        number = 1
        while True:
            found = ProviderId(slug if number == 1 else f"{slug}-{number}")
            if found not in taken and self._providers.keys.get(default_key_name(found)) is None:
                return found
            number += 1


def _spec(**values: Any) -> ProviderSpec:
    try:
        return ProviderSpec.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InvalidRequest(f"{first['loc'][0]}: {first['msg']}.") from error


def _detected(
    spec: ProviderSpec,
    *,
    known: bool = False,
    needs_key: bool = False,
    listed: list[Any] | None = None,
) -> DetectedProvider:
    models = [
        DetectedModel(name=entry["model"], context_window=entry.get("context_window"))
        for entry in (listed or [])[:MOST_LISTED]
    ]
    return DetectedProvider.model_validate(
        {
            "id": spec.id,
            "name": spec.name,
            "kind": spec.kind,
            "url": spec.url,
            "known": known,
            "needs_key": needs_key,
            "lists_models": bool(models),
            "models": models,
        }
    )
