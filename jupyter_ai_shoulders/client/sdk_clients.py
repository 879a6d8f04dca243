"""Access to the model proxy for code in kernels: variables and clients of the official SDKs.

The proxy replaces each vendor's service, so that user code calls models within the budget and never
sees a provider's key. Called by ``client``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PROXY_URL = "SHOULDERS_PROXY_URL"
PROXY_SECRET = "SHOULDERS_PROXY_SECRET"  # noqa: S105 the name of a variable
"""Set by the server in the kernels it starts. The secret opens the proxy and, unless several users
share the server, conversations (``server.auth.kernel_access``).
"""
PROXY_PATH = "shoulders/proxy"


@dataclass(frozen=True, slots=True)
class ProxyKey:
    """The proxy's address, without a slash at the end, and the key that opens it."""

    url: str
    secret: str

    @property
    def variables(self) -> dict[str, str]:
        """Variables that the SDKs of OpenAI, Anthropic and Google read."""
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_KEY": self.secret,
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": self.secret,
            "GOOGLE_GEMINI_BASE_URL": self.url,
            "GEMINI_API_KEY": self.secret,
        }

    def __repr__(self) -> str:
        return f"ProxyKey(url={self.url!r}, secret=…)"


def kernel_proxy_key(environ: Mapping[str, str] = os.environ) -> ProxyKey | None:
    """Return the key that the server gave to this kernel; None in other processes."""
    url, secret = environ.get(PROXY_URL), environ.get(PROXY_SECRET)
    return ProxyKey(url, secret) if url and secret else None


def openai_client(key: ProxyKey, *, asynchronous: bool, **options: Any) -> Any:
    """Return a client of the ``openai`` package. Raises ``ImportError`` without it."""
    import openai

    made: Any = openai.AsyncOpenAI if asynchronous else openai.OpenAI
    return made(**{"base_url": f"{key.url}/v1", "api_key": key.secret, **options})


def anthropic_client(key: ProxyKey, *, asynchronous: bool, **options: Any) -> Any:
    """Return a client of the ``anthropic`` package. Raises ``ImportError`` without it."""
    import anthropic

    made: Any = anthropic.AsyncAnthropic if asynchronous else anthropic.Anthropic
    return made(**{"base_url": key.url, "api_key": key.secret, **options})
