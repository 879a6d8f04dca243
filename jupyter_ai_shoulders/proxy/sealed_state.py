"""Seals opaque provider state into a string that callers carry in their own format.

Providers need this state back verbatim (thinking signatures, encrypted reasoning). The string is
signed, so that a caller cannot put fields of its own into a provider's request. Used by the
formats' ``decode`` and ``stream``.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import zlib
from typing import cast

from pydantic import ValidationError

from jupyter_ai_shoulders.wire.parts import ProviderState, ReasoningPart

PREFIX = "shoulders1."
MAX_BYTES = 8 << 20
"""Bytes of one state, unpacked."""
_MAC_BYTES = 16


class StateSealer:
    """Seals and opens state; the same secret opens it, also after a restart."""

    def __init__(self, secret: bytes) -> None:
        self._key = hmac.digest(secret, b"jupyter_ai_shoulders.proxy.state", "sha256")

    def seal(self, state: ProviderState, text: str = "") -> str:
        """Return the state, and the text of the part it belongs to, as one ASCII string."""
        content = [state.provider, state.model, state.data, text]
        packed = zlib.compress(json.dumps(content, separators=(",", ":")).encode(), 1)
        return PREFIX + base64.urlsafe_b64encode(self._mac(packed) + packed).decode()

    def open(self, sealed: str) -> ReasoningPart | None:
        """Return text and state; None for foreign or altered strings."""
        packed = self._packed(sealed)
        if packed is None:
            return None
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(packed, MAX_BYTES)
        if not unpacker.eof:
            return None
        provider, model, data, text = cast("list[object]", json.loads(content))
        try:
            state = ProviderState.model_validate(
                {"provider": provider, "model": model, "data": data}
            )
            return ReasoningPart(text=str(text), state=state)
        except ValidationError:  # sealed by another version
            return None

    def _packed(self, sealed: str) -> bytes | None:
        """Return the packed bytes if the signature is valid."""
        if not sealed.startswith(PREFIX):
            return None
        try:
            raw = base64.urlsafe_b64decode(sealed[len(PREFIX) :])
        except (ValueError, binascii.Error):
            return None
        mac, packed = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
        return packed if hmac.compare_digest(mac, self._mac(packed)) else None

    def _mac(self, packed: bytes) -> bytes:
        return hmac.digest(self._key, packed, hashlib.sha256)[:_MAC_BYTES]
