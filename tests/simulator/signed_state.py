"""Signs content with a keyed hash, so that the simulator recognises what it issued without storing
it.

Used for thinking signatures and encrypted reasoning.
"""

from __future__ import annotations

import base64
import hashlib
import hmac

SECRET = b"the simulator's own, no secret at all"


def seal_content(content: bytes) -> str:
    """Return the content as opaque text."""
    mac = hmac.new(SECRET, content, hashlib.sha256).digest()
    return base64.b64encode(mac + content).decode()


def unseal_content(text: str) -> bytes | None:
    """Return the content, or None when the text was not made here."""
    try:
        raw = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    mac, content = raw[:32], raw[32:]
    if not hmac.compare_digest(mac, hmac.new(SECRET, content, hashlib.sha256).digest()):
        return None
    return content
