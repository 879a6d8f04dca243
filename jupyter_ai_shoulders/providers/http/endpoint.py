"""An adapter's configuration: one provider's expanded settings, its key and one model.

Made by ``endpoint_resolver`` for each resolved model; cheap, because connections are shared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ProviderSpec
from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.http.error_mapping import CalledService
from jupyter_ai_shoulders.providers.http.upstream import HttpRequest, Timeouts, Upstream
from jupyter_ai_shoulders.providers.message_cache import MessageCache
from jupyter_ai_shoulders.wire.parts import ProviderState, ToolDefinition


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model of one provider, ready to be called.

    ``report`` is called with the outcome of each call: None for success. ``permit`` raises
    ``PolicyRefusal`` where the settings forbid an address; they may change during a turn.
    """

    provider: ProviderSpec
    model: ModelSpec
    key: str | None = field(repr=False)
    service: CalledService
    upstream: Upstream
    ids: IdSource
    report: Callable[[ProviderError | None], None]
    encoded: MessageCache
    permit: Callable[[str], None] = lambda _: None

    def call(
        self,
        url: str,
        default_auth: str,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> HttpRequest:
        """Return the request with authentication and the user's headers and query.

        ``default_auth`` is the format's own scheme, spelled as in ``ProviderSpec.auth``. Raises
        ``ProviderError`` for a key that cannot be sent, ``PolicyRefusal`` for an address that the
        settings forbid.
        """
        self.permit(url)
        sent = {"accept": "application/json" if body is None else "text/event-stream"}
        if body is not None:
            sent["content-type"] = "application/json"
        sent |= headers or {}
        sent |= self._auth(self.provider.auth or default_auth)
        sent |= {name.lower(): value for name, value in self.provider.headers.items()}
        settings = self.provider
        timeouts = Timeouts(settings.connect_timeout, settings.idle_timeout, settings.total_timeout)
        asked = {**(query or {}), **settings.query}
        return HttpRequest(url, self.service, sent, asked, body, timeouts)

    def tools(
        self, tools: Iterable[ToolDefinition], shape: Callable[[ToolDefinition], Any]
    ) -> list[bytes]:
        """Return tools as JSON in the format's ``shape``, cached from earlier requests."""

        def encoded(tool: ToolDefinition) -> bytes:
            return self.encoded.get(tool, None, lambda: encode_json(shape(tool)))

        return list(map(encoded, tools))

    def state(self, data: Any) -> ProviderState:
        """Return opaque state tagged with this provider and model."""
        return ProviderState(provider=self.provider.id, model=self.model.model, data=data)

    def owns(self, state: ProviderState | None) -> bool:
        """Return whether this provider and model made the state, so that it may be replayed."""
        return (
            state is not None
            and state.provider == self.provider.id
            and state.model == self.model.model
        )

    def _auth(self, auth: str) -> dict[str, str]:
        if self.key is None or auth == "none":
            return {}
        if not self.key.isascii() or not self.key.isprintable():
            raise self.service.fail("authentication", "the key has characters no key has")
        if auth == "bearer":
            return {"authorization": f"Bearer {self.key}"}
        return {auth.removeprefix("header:").lower(): self.key}


def encode_json(value: Any) -> bytes:
    """Return compact JSON; lone surrogates, which no server accepts, become question marks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def encode_body(
    head: Mapping[str, Any],
    messages: Sequence[bytes],
    field_name: str = "messages",
    tools: Sequence[bytes] = (),
) -> bytes:
    """Return the JSON of ``head`` with the encoded ``messages`` and ``tools`` added."""
    body = [encode_json(head)[:-1]]
    if tools:
        body += (b',"tools":[', b",".join(tools), b"]")
    return b"".join((*body, f',"{field_name}":['.encode(), b",".join(messages), b"]}"))
