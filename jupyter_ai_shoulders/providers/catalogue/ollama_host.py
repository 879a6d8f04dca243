"""The address of the user's Ollama, from the preferences and ``OLLAMA_HOST``; used by ``loader``.

The variable is Ollama's own, for server and clients. It holds a host with an optional scheme and
port. A server that listens on all addresses is reached through loopback.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from jupyter_ai_shoulders.core.model_preferences import ModelPreferences

VARIABLE = "OLLAMA_HOST"
DEFAULT_PORT = 11434
_PORTS = {"http": 80, "https": 443}
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 read, not bound


def ollama_url(preferred: str, environ: Mapping[str, str]) -> str:
    """Return the address that replaces the shipped one; empty where none is configured.

    The preference wins over the environment, unless it is the default.
    """
    if preferred.strip() and preferred.strip() != ModelPreferences().ollama_host:
        return to_url(preferred)
    return to_url(environ.get(VARIABLE, ""))


def to_url(host: str) -> str:
    """Return ``host`` as an address; empty where it is invalid."""
    text = host.strip().strip("\"'").rstrip("/")
    if not text:
        return ""
    scheme, separator, rest = text.rpartition("://")
    try:
        parts = urlsplit(f"{scheme if separator else 'http'}://{rest}")
        port = parts.port or (_PORTS.get(scheme) if separator else None) or DEFAULT_PORT
    except ValueError:
        return ""
    name = _name(parts)
    return f"{parts.scheme}://{name}:{port}{parts.path}" if parts.scheme in _PORTS else ""


def _name(parts: SplitResult) -> str:
    """Return the host as written in an address."""
    name = parts.hostname or "127.0.0.1"
    shown = f"[{name}]" if ":" in name else name
    return _ANY_ADDRESS.get(name, shown)
