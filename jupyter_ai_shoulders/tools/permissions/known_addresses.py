"""Web addresses in a form in which they can be compared. Pure.

A call that fetches an address asks unless the user wrote the address or a search found it:
``engine.loop.address_tracking`` collects those, ``tools.permissions.rules`` compares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import SplitResult, urlsplit

LONGEST_TEXT = 200_000
"""Characters of a text that are looked through."""
_ADDRESS = re.compile(
    r"https?://[^\s<>\"'`|\\^{}]+|(?<![\w@/.-])(?:[\w-]{1,63}\.)+[a-z]{2,24}(?::\d{2,5})?/?[^\s<>\"'`|\\^{}]*",
    re.IGNORECASE,
)
_CLOSING = ".,;:!?*_~…”’»"
_PAIRS = {")": "(", "]": "[", "}": "{"}
_HOST = re.compile(r"[a-z0-9_.-]{1,253}|[0-9a-f:.]{2,45}")
_DEFAULT_PORTS = {"http": 80, "https": 443}


def address_key(url: str) -> str | None:
    """Return what equal addresses share: host, port, path and query; None for no address."""
    parts = _split(url)
    host = None if parts is None else _host_of(parts)
    if parts is None or host is None:
        return None
    try:
        port = parts.port
    except ValueError:
        return None
    shown = "" if port in {None, *_DEFAULT_PORTS.values()} else f":{port}"
    query = f"?{parts.query}" if parts.query else ""
    return f"{host}{shown}{parts.path.rstrip('/')}{query}"


def address_host(url: str) -> str | None:
    """Return the host of an address as rules compare it; None where there is none."""
    parts = _split(url)
    return None if parts is None else _host_of(parts)


def comparable_host(host: str) -> str:
    """Return a host in ASCII and lower case, without a final dot."""
    name = host.strip().removesuffix(".").lower()
    try:
        return name if name.isascii() else name.encode("idna").decode("ascii")
    except UnicodeError:
        return name


def addresses_in(text: str) -> Iterator[str]:
    """Yield the keys of the addresses in a text, with and without a scheme."""
    for found in _ADDRESS.finditer(text[:LONGEST_TEXT]):
        address = _without_closing(found.group())
        key = address_key(address if "://" in address[:8] else f"https://{address}")
        if key is not None:
            yield key


def _without_closing(address: str) -> str:
    """Return an address without the punctuation of the sentence that it is in."""
    while address:
        last = address[-1]
        opening = _PAIRS.get(last)
        unmatched = opening is not None and address.count(last) > address.count(opening)
        if last not in _CLOSING and not unmatched:
            break
        address = address[:-1]
    return address


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    return parts if parts.scheme.lower() in _DEFAULT_PORTS else None


def _host_of(parts: SplitResult) -> str | None:
    host = comparable_host(parts.hostname or "")
    return host if _HOST.fullmatch(host) else None
