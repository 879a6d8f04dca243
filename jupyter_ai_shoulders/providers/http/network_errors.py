"""Describes network failures between this server and a provider; used by ``client``."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import aiohttp

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.http.loopback import NotLoopbackError
from jupyter_ai_shoulders.providers.http.upstream import HttpRequest
from jupyter_ai_shoulders.wire.errors import ErrorCode

NETWORK_ERRORS = (
    aiohttp.ClientError,
    OSError,
    UnicodeError,
    ValueError,
)
"""Errors of the transport; the last two concern invalid addresses, headers and proxies."""

_TLS_HINT = (
    "Check the certificate of the address. If a proxy in your network re-signs traffic, set "
    "SSL_CERT_FILE to its certificate and restart the server."
)
_PROXY_HINT = "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the Jupyter server."


@dataclass(frozen=True, slots=True)
class _Row:
    """The message for one of ``kinds`` among the causes."""

    kinds: tuple[type[BaseException], ...]
    what: str
    code: ErrorCode = "provider_unreachable"
    hint: str | None = None
    retryable: bool = False


_ROWS = (
    _Row(
        (NotLoopbackError,),
        "{host} resolves to another machine, so nothing was sent",
        hint="A local address must resolve to this machine. Use 127.0.0.1 in place of the name, or"
        " correct the hosts file.",
    ),
    _Row((aiohttp.ClientSSLError, ssl.SSLError), "no secure connection to {host}", hint=_TLS_HINT),
    _Row(
        (aiohttp.ClientProxyConnectionError, aiohttp.ClientHttpProxyError),
        "the proxy did not connect us to {host}",
        hint=_PROXY_HINT,
    ),
    _Row((aiohttp.ClientConnectorDNSError,), "no such host: {host}", retryable=True),
    _Row(
        (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError, UnicodeError),
        "the address cannot be used: {host}",
    ),
    _Row(
        (aiohttp.ConnectionTimeoutError,),
        "no connection to {host} within {connect:g} seconds",
        retryable=True,
    ),
    _Row((ConnectionRefusedError,), "nothing answers at {host}", retryable=True),
    _Row(
        (aiohttp.ClientResponseError, ValueError),
        "{host} does not speak HTTP as expected",
        code="provider_protocol",
    ),
    _Row((BaseException,), "the connection to {host} failed", retryable=True),
)
_BROKEN_OFF = (
    _Row((BaseException,), "the connection broke off", code="stream_truncated", retryable=True),
)


def network_error(error: BaseException, call: HttpRequest, *, answered: bool) -> ProviderError:
    """Return the error for an exception of aiohttp.

    ``answered``: the head of the response had arrived, so the connection broke during the body.
    """
    causes = tuple(_causes(error))
    rows = _BROKEN_OFF if answered else _ROWS
    row = next(row for row in rows if any(isinstance(cause, row.kinds) for cause in causes))
    return call.service.fail(
        row.code,
        row.what.format(host=_host(call.url), connect=call.timeouts.connect),
        hint=row.hint,
        retryable=row.retryable,
    )


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.rpartition("@")[2] or "(no host)"
    except ValueError:
        return "(no host)"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
