"""Keeps keys with their vendors: whose key it is, and where it may go. Used by ``setup``."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_ai_shoulders.core.catalogue import ProviderSpec
from jupyter_ai_shoulders.core.catalogue_trust import host_of
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.providers.key_forms import MORE_SERVICES, vendor_of
from jupyter_ai_shoulders.wire.ids import ProviderId


class Vendors:
    """The services whose addresses and keys are known, as they are shipped."""

    def __init__(self, shipped: Mapping[ProviderId, ProviderSpec]) -> None:
        self._official = {**MORE_SERVICES, **shipped}

    def get(self, provider_id: ProviderId) -> ProviderSpec | None:
        """Return the service of this id."""
        return self._official.get(provider_id)

    def at(self, url: str) -> ProviderSpec | None:
        """Return the service at this address."""
        host = host_of(url)
        return next((spec for spec in self._official.values() if host_of(spec.url) == host), None)

    def of(self, chosen: ProviderId | None, key: str) -> ProviderSpec:
        """Return the service that gave out a key, which its form or the user names.

        Raises ``InvalidRequest`` where neither does, or where they differ.
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

    def refuse_elsewhere(self, key: str, url: str) -> None:
        """Raise ``InvalidRequest`` for the key of a vendor that is not at this address."""
        vendor = self._by_form(key)
        if vendor is not None and host_of(vendor.url) != host_of(url):
            raise InvalidRequest(
                f"This is a key of {vendor.name}; it is not sent to {host_of(url)}.",
                code="authentication",
                hint=f"Leave out the address to add {vendor.name}, or use a key of this server.",
            )

    def foreign(self, key: str, provider: ProviderSpec) -> InvalidRequest | None:
        """Return why a key is not tried with a configured provider: it is another vendor's."""
        vendor = self._by_form(key)
        if (
            vendor is None
            or vendor.id == provider.id
            or host_of(vendor.url) == host_of(provider.url)
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
