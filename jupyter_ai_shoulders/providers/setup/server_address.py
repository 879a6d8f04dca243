"""Parses the address of a server as typed by a user. Pure; used by ``setup``."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit, urlunsplit

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.core.variable_expansion import variables_in

_ENDPOINTS = (
    *("/chat/completions", "/completions", "/responses", "/messages", "/models"),
    *("/api/chat", "/api/generate", "/api/tags", "/api"),
)
_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-goog-api-key"}
)
_EXAMPLE = "Give it like https://models.example.org/v1 or 127.0.0.1:8000."


def server_url(text: str) -> str:
    """Return the API root of a typed address; ``http`` for this machine and private networks.

    Raises ``InvalidRequest`` for an invalid address, and for one that contains a secret.
    """
    typed = text.strip().rstrip("/")
    parts = _split(typed if "://" in typed else f"//{typed}")
    if parts.scheme not in {"", "http", "https"} or not parts.hostname:
        raise InvalidRequest(f"This is not the address of a server: {typed!r}.", hint=_EXAMPLE)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidRequest(
            "The address holds more than a place: a name, a password or a query.",
            hint="Leave out what stands before @ and after ?, and put a key into the key field.",
        )
    _refuse_link_local(parts.hostname)
    scheme = parts.scheme or ("http" if _is_near(parts.hostname) else "https")
    return urlunsplit((scheme, parts.netloc, _root(parts.path), "", ""))


def check_headers(headers: Mapping[str, str], redactor: Redactor) -> None:
    """Raise ``InvalidRequest`` for headers with a key, which the file would hold in plain text.

    ``${NAME}`` in a value names an environment variable.
    """
    for name, value in headers.items():
        if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
            raise InvalidRequest(f"{name!r} is not the name of a header.")
        if not value.isascii() or not value.isprintable():
            raise InvalidRequest(f"The value of the header {name} is not printable ASCII.")
        is_secret = name.lower() in _SECRET_HEADERS or redactor.redact(value) != value
        if is_secret and not variables_in(value):
            raise InvalidRequest(
                f"The header {name} holds a key, which models.json would have in plain text.",
                hint="Put the key into the key field, or name a variable of the environment:"
                " ${NAME}.",
            )


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise InvalidRequest(f"This is not an address: {error}.", hint=_EXAMPLE) from error
    if any(letter.isspace() for letter in text):
        raise InvalidRequest("An address has no spaces.", hint=_EXAMPLE)
    return parts


def _refuse_link_local(host: str) -> None:
    address = _ip(host)
    if address is not None and (address.is_link_local or address.is_multicast):
        raise InvalidRequest(
            f"{host} is a link-local address, where clouds keep the secrets of their machines.",
            hint="Give the server's usual address.",
        )


def _is_near(host: str) -> bool:
    """Return whether a host is this machine or in a private network."""
    address = _ip(host)
    return host == "localhost" or (address is not None and address.is_private)


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _root(path: str) -> str:
    """Return the path without a trailing endpoint."""
    found = next((end for end in _ENDPOINTS if path.endswith(end)), "")
    return path.removesuffix(found).rstrip("/")
