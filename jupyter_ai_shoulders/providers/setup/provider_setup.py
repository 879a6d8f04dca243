"""Adds, changes and removes the user's providers, and saves keys; tests each before it is stored.

Reached through ``registry``, used by ``server.handlers.models``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_ai_shoulders.core.catalogue.key_variables import default_key_name
from jupyter_ai_shoulders.core.catalogue.merge import CatalogueSource, merge_catalogue
from jupyter_ai_shoulders.core.catalogue.specs import Catalogue, ModelSpec, ProviderSpec
from jupyter_ai_shoulders.core.catalogue.trust_items import url_host
from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound
from jupyter_ai_shoulders.core.redaction.redactor import MASK
from jupyter_ai_shoulders.providers.catalogue.listed_models import entry_by_name
from jupyter_ai_shoulders.providers.catalogue.loader import shipped_text
from jupyter_ai_shoulders.providers.catalogue.shipped_entries import ShippedCatalogue
from jupyter_ai_shoulders.providers.catalogue.user_models import (
    DISPLAY_PATH,
    Json,
    UserCatalogue,
    dump,
    models_of,
    own_providers,
    parse,
    provider_entry,
    with_provider,
    without_provider,
)
from jupyter_ai_shoulders.providers.configured_providers import ConfiguredProviders
from jupyter_ai_shoulders.providers.credentials.key_vendors import KeyVendors
from jupyter_ai_shoulders.providers.model_selector import ModelSelector
from jupyter_ai_shoulders.providers.setup.candidate_check import CandidateCheck, is_refused
from jupyter_ai_shoulders.providers.setup.connection_test import failed_connection_test
from jupyter_ai_shoulders.providers.setup.provider_detector import ProviderDetector
from jupyter_ai_shoulders.providers.setup.server_address import check_headers, server_url
from jupyter_ai_shoulders.wire.api.provider_setup import (
    OwnProvider,
    PutProvider,
    SavedProvider,
)
from jupyter_ai_shoulders.wire.api.responses import ProviderHealth
from jupyter_ai_shoulders.wire.ids import ProviderId

_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class ProviderSetup:
    """The user's own providers and keys."""

    def __init__(
        self,
        providers: ConfiguredProviders,
        selector: ModelSelector,
        file: UserCatalogue,
        candidates: CandidateCheck,
        detector: ProviderDetector,
        *,
        vendors: KeyVendors,
        shipped: ShippedCatalogue,
        environ: Mapping[str, str],
    ) -> None:
        self._providers = providers
        self._selector = selector
        self._keys = providers.keys
        self._file = file
        self._candidates = candidates
        self._vendors = vendors
        self.detector = detector
        self._shipped = shipped
        self._environ = environ
        self._writing = asyncio.Lock()

    async def save_key(
        self, provider_id: ProviderId, value: str, owner: str | None = None
    ) -> SavedProvider:
        """Test a key with the model the user would get, and store it unless it is refused.

        Raises ``NotFound``, ``InvalidRequest``, ``Conflict`` (set in the environment),
        ``StateUnavailable``.
        """
        provider = self._providers.provider(provider_id)
        value = value.strip()
        await asyncio.to_thread(self._keys.check, provider.key_name, value)
        foreign = self._vendors.mismatch_error(value, provider)
        if foreign is not None:
            test = failed_connection_test(foreign)
        else:
            model = self._selector.test_model(provider_id)
            test = await self._candidates.test(provider, model, value, owner)
        stored = not is_refused(test)
        if stored:
            await asyncio.to_thread(self._keys.set, provider.key_name, value)
            self._providers.reset(provider_id, test)
        return SavedProvider(stored=stored, provider=self._providers.health_of(provider), test=test)

    async def own_provider(self, provider_id: ProviderId) -> OwnProvider:
        """Return a provider's entry in the user's file. Raises ``NotFound``, ``Conflict``."""
        content = parse(await asyncio.to_thread(self._file.read))
        provider = self._providers.provider(provider_id)
        if provider_id not in own_providers(content):
            raise _not_own(provider_id)
        entry = provider_entry(content, provider_id)
        redact = self._providers.redactor().redact
        headers = {
            name: MASK if redact(value) != value else value
            for name, value in provider.headers.items()
        }
        return OwnProvider.model_validate(
            {
                "id": provider_id,
                "name": provider.name,
                "kind": provider.kind,
                "url": entry.get("url", provider.url),
                "auth": provider.auth,
                "headers": headers,
                "list_models": provider.lists_its_models,
                "models": models_of(content, provider_id),
            }
        )

    async def save(
        self, provider_id: ProviderId, command: PutProvider, owner: str | None = None
    ) -> SavedProvider:
        """Test a provider and write it into the user's models.json, unless it is refused.

        Raises ``InvalidRequest``, ``Conflict``, ``StateUnavailable``.
        """
        change = await asyncio.to_thread(self._change, provider_id, command)
        test = None
        if not command.untested:
            key = change.key or self._stored_key(change.provider)
            test = await self._candidates.test(change.provider, change.model, key, owner)
        if is_refused(test):
            return SavedProvider(stored=False, provider=self._health(provider_id), test=test)
        async with self._writing:
            # The file may have changed during the test.
            change = await asyncio.to_thread(self._change, provider_id, command)
            await asyncio.to_thread(self._file.write, change.text)
            if change.key:
                await asyncio.to_thread(self._keys.set, change.provider.key_name, change.key)
        self._providers.reset(provider_id, test)
        await self._providers.discovery.refresh_provider(change.provider)
        return SavedProvider(stored=True, provider=self._health(provider_id), test=test)

    async def remove(self, provider_id: ProviderId) -> None:
        """Remove a provider, its models and its stored key from the user's files.

        Raises ``NotFound``, ``Conflict``, ``StateUnavailable``.
        """
        async with self._writing:
            await asyncio.to_thread(self._remove, provider_id)
        self._providers.reset(provider_id, None)

    def _remove(self, provider_id: ProviderId) -> None:
        text = self._file.read()
        content = parse(text)
        if provider_id not in own_providers(content):
            raise _not_own(provider_id)
        before = self._providers.catalogue().providers.get(provider_id)
        self._file.write(dump(without_provider(content, provider_id), text))
        after = self._providers.catalogue().providers
        names = {name for spec in after.values() for name in spec.key_names}
        if before is not None and before.key_name not in names:
            key = self._keys.get(before.key_name)
            if key is not None and key.source != "environment":
                self._keys.remove(before.key_name)

    def _change(self, provider_id: ProviderId, command: PutProvider) -> _Change:
        """Return the changed file. Raises ``InvalidRequest``, ``Conflict``."""
        text = self._file.read()
        content = parse(text)
        before = self._providers.catalogue().providers.get(provider_id)
        entry = provider_entry(content, provider_id)
        url = command.url if command.url == entry.get("url") else server_url(command.url)
        key = command.key.strip()
        self._check_address(provider_id, command, url, key, before)
        fields = self._fields(provider_id, command, url, before, entry)
        wanted = [_model_entry(provider_id, name) for name in command.models]
        changed = with_provider(content, provider_id, fields, wanted)
        new_text = dump(changed, text)
        merged = merge_catalogue(
            [
                CatalogueSource("models.json (shipped)", shipped_text()),
                CatalogueSource(DISPLAY_PATH, new_text),
            ],
            self._environ,
        )
        provider = merged.providers.get(provider_id)
        if provider is None:
            problem = next(
                (each.message for each in merged.problems if each.source == DISPLAY_PATH), ""
            )
            raise InvalidRequest(f"The catalogue could not use this provider. {problem}".strip())
        if key:
            self._keys.check(provider.key_name, key)
        return _Change(new_text, provider, _to_test(merged, provider, command), key)

    def _check_address(
        self,
        provider_id: ProviderId,
        command: PutProvider,
        url: str,
        key: str,
        before: ProviderSpec | None,
    ) -> None:
        if _ID.fullmatch(provider_id) is None:
            raise InvalidRequest(
                f"{provider_id!r} cannot be the id of a provider.",
                hint="Use small letters, digits and dashes.",
            )
        usual = url_host(url) if before is None else url_host(before.url)
        moved = usual != url_host(url)
        if command.new and (moved or (before and self._vendors.get(provider_id) is None)):
            raise Conflict(
                f"The provider {provider_id} already exists, at {usual}.",
                hint="Choose another name.",
            )
        self._vendors.check_destination(key, url)
        if key:
            return
        if before is not None and moved and self._stored_key(before) is not None:
            raise InvalidRequest(
                f"The stored key was given for {usual}, not for {url_host(url)}.",
                hint="Paste the key for the new address.",
            )
        if before is None and self._keys.get(default_key_name(provider_id)) is not None:
            raise Conflict(
                f"The key {default_key_name(provider_id)} already exists and was not given for"
                f" {url_host(url)}.",
                hint="Choose another name.",
            )

    def _fields(
        self,
        provider_id: ProviderId,
        command: PutProvider,
        url: str,
        before: ProviderSpec | None,
        entry: Json,
    ) -> dict[str, Any]:
        """Return the settings to write: those in the file, or unlike the shipped ones."""
        headers = {
            name: (before.headers.get(name, value) if before and value == MASK else value)
            for name, value in command.headers.items()
        }
        masked = {name for name, value in command.headers.items() if value == MASK}
        typed = {name: value for name, value in headers.items() if name not in masked}
        check_headers(typed, self._providers.redactor())
        fields: dict[str, Any] = {
            "name": command.name.strip(),
            "kind": command.kind,
            "url": url,
            "auth": command.auth,
            "headers": headers,
            "list_models": command.list_models,
        }
        known = self._vendors.get(provider_id)
        if command.key.strip() and not {"api_key_env", "apiKeyEnv"} & entry.keys():
            fields["api_key_env"] = known.key_name if known else default_key_name(provider_id)
        below = self._shipped.providers.get(provider_id)
        return {
            name: value
            for name, value in fields.items()
            if name in entry or below is None or getattr(below, name) != value
        }

    def _health(self, provider_id: ProviderId) -> ProviderHealth | None:
        found = self._providers.catalogue().providers.get(provider_id)
        return None if found is None else self._providers.health_of(found)

    def _stored_key(self, provider: ProviderSpec) -> str | None:
        if provider.auth == "none":
            return None
        found = (self._keys.get(name) for name in provider.key_names)
        return next((key.value for key in found if key is not None), None)


@dataclass(frozen=True, slots=True)
class _Change:
    """The changed file, and the provider to test before it is written."""

    text: str
    provider: ProviderSpec
    model: ModelSpec | None
    key: str


def _to_test(merged: Catalogue, provider: ProviderSpec, command: PutProvider) -> ModelSpec | None:
    """Return the named model, else the first; None where the service lists them."""
    own = [spec for spec in merged.models.values() if spec.provider == provider.id]
    named = next((spec for spec in own if spec.model == command.model), None)
    if named is None and command.model:
        return ModelSpec.model_validate(entry_by_name(provider, command.model))
    return named or next(iter(own), None)


def _model_entry(provider: ProviderId, name: str) -> Json:
    return {"id": f"{provider}/{name}", "name": name, "provider": provider, "model": name}


def _not_own(provider: ProviderId) -> NotFound:
    return NotFound(
        f"{DISPLAY_PATH} has no entry of {provider}.",
        hint="Providers of the administrator and of this folder are changed where they are set.",
    )
