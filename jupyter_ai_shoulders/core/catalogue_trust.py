"""Keeps a folder's own configuration from sending the user's secrets to an address of its choice.

A workspace may come from somebody else (a cloned repository), and its ``models.json`` with it.
Such a file may point a provider anywhere, but a key or a ``${VARIABLE}`` goes to another machine
only when the user said so in a file of their own or an administrator in a trait. Used by
``core.catalogue_merge``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from jupyter_ai_shoulders.core.catalogue import ProviderSpec

_TELLING = ("kind", "url", "api_key_env", "other_key_envs", "auth", "headers", "query")
"""Fields that decide where a secret goes, and which."""


def untrusted_secret(
    before: Mapping[str, Any] | None, after: Mapping[str, Any], spec: ProviderSpec
) -> str | None:
    """Return why an untrusted entry may not be used, or None when it sends no secret away.

    ``before`` is the provider as trusted sources left it, ``after`` with the entry's fields.
    """
    if before is not None and all(before.get(key) == after.get(key) for key in _TELLING):
        return None
    host = urlsplit(spec.url).hostname or ""
    texts = (spec.url, *spec.headers.values(), *spec.query.values())
    names_a_variable = any("${" in text for text in texts)
    if (is_this_machine(host) and "${" not in spec.url) or not (spec.needs_key or names_a_variable):
        return None
    secret = spec.key_name if spec.needs_key else "variables of the environment"
    return (
        f'It would send {secret} to {host or "another address"}. Put the provider "{spec.id}" into '
        "~/.shoulders/models.json if that is what you want; until then the entry is not used."
    )


def is_this_machine(host: str) -> bool:
    """Return whether a host name or address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
