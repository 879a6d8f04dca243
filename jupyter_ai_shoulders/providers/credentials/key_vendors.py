"""Recognises the vendor of a key, and keeps a key from other vendors' addresses.

Used by ``setup``. The prefixes are documented in ``core/redaction/secret_patterns.json``; one that
several services use, such as a plain ``sk-``, identifies none.
"""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_ai_shoulders.core.catalogue.specs import ProviderSpec
from jupyter_ai_shoulders.core.catalogue.trust_items import url_host
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.wire.ids import ProviderId


class KeyVendors:
    """The services with known addresses and keys, as shipped."""

    def __init__(self, shipped: Mapping[ProviderId, ProviderSpec]) -> None:
        self._official = {**MORE_SERVICES, **shipped}

    def get(self, provider_id: ProviderId) -> ProviderSpec | None:
        """Return the service of this id."""
        return self._official.get(provider_id)

    def by_url(self, url: str) -> ProviderSpec | None:
        """Return the service at this address."""
        host = url_host(url)
        return next((spec for spec in self._official.values() if url_host(spec.url) == host), None)

    def for_key(self, chosen: ProviderId | None, key: str) -> ProviderSpec:
        """Return the service of a key, by its prefix or the user's choice.

        Raises ``InvalidRequest`` where neither identifies it, or where they differ.
        """
        by_form = self._by_form(key)
        by_name = None if chosen is None else self.get(chosen)
        if by_form is not None and by_name is not None and by_form.id != by_name.id:
            raise _foreign(by_form, by_name)
        found = by_name or by_form
        if found is None:
            raise InvalidRequest(
                "Several services use keys of this form. Nothing was sent.",
                code="ambiguous",
                hint="Choose the provider, or give the address of the server.",
            )
        return found

    def check_destination(self, key: str, url: str) -> None:
        """Raise ``InvalidRequest`` for the key of a vendor that is not at this address."""
        vendor = self._by_form(key)
        if vendor is not None and url_host(vendor.url) != url_host(url):
            raise InvalidRequest(
                f"This is a key of {vendor.name}; it is not sent to {url_host(url)}.",
                code="authentication",
                hint=f"Leave out the address to add {vendor.name}, or use a key of this server.",
            )

    def mismatch_error(self, key: str, provider: ProviderSpec) -> InvalidRequest | None:
        """Return an error where the key belongs to another vendor than the configured provider."""
        vendor = self._by_form(key)
        if (
            vendor is None
            or vendor.id == provider.id
            or url_host(vendor.url) == url_host(provider.url)
        ):
            return None
        return _foreign(vendor, provider)

    def _by_form(self, key: str) -> ProviderSpec | None:
        name = vendor_of(key)
        return None if name is None else self.get(name)


def _foreign(vendor: ProviderSpec, provider: ProviderSpec) -> InvalidRequest:
    return InvalidRequest(
        f"This is a key of {vendor.name}, so it was not sent to {provider.name}.",
        code="authentication",
        hint=f"Use a key of {provider.name}, or paste this one under Add provider.",
    )


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
    """Return the provider whose keys have this prefix; None where it is ambiguous."""
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
"""Services that are not in the shipped catalogue; *Add provider* adds them for the user."""
