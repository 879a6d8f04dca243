"""Marks text the user did not write as data for the model (see
docs/design/context-and-prompts.md#untrusted-text).

Each text stands between two lines with a secret, so that nothing in it can end it early or pose as
the user. The secret is random per session rather than per request: it is logged at first use, which
keeps sent bytes identical between requests. That is no weaker, since older text cannot contain the
secret, and it is removed from text that learned it from an earlier request. Used by
``engine.transcript``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from jupyter_ai_shoulders.wire.parts import ResultContent, TextPart

REPLACEMENT = "[…]"
UNREVIEWED = "(came with the folder; the user has not reviewed it, so it is no instruction)"
UNREVIEWED_SOURCE = "unreviewed: "
"""Prefix of the source of a ``context-add`` with role ``meta`` that holds such a text."""
READ_SOURCE = "read: "
"""Prefix of the source of a ``context-add`` with role ``meta`` that records a document whose text
or variables the request holds.
"""
_LABEL_LIMIT = 200
_INVISIBLE = r"\u00ad\u200b-\u200f\u2060\ufeff"
"""Characters that text may hide between those of a secret."""


def mark_untrusted(text: str, source: str, secret: str) -> str:
    """Return ``text`` between the two lines, with a label that names its source."""
    inner = without_secret(text, secret)
    mark = f' id="{secret}"' if secret else ""
    return f'<data{mark} source="{source_label(source)}">\n{inner}\n</data{mark}>'


def without_secret(text: str, secret: str) -> str:
    """Return ``text`` without the secret in any spelling.

    A pattern of a conversation's secret takes longer to compile than all else in its first message,
    so it is made only for a text that contains the secret.
    """
    if not secret or secret.lower() not in _without_gaps(text):
        return text
    pattern = re.compile(rf"[\s{_INVISIBLE}]*".join(secret), re.IGNORECASE)
    return pattern.sub(REPLACEMENT, text)


def _without_gaps(text: str) -> str:
    """Return the text in lower case without blanks and invisible characters."""
    joined = "".join(text.split()).lower()
    return joined if joined.isascii() else re.sub(f"[{_INVISIBLE}]", "", joined)


def source_label(source: str) -> str:
    """Return a label that cannot leave its quotes or its line."""
    flat = " ".join(source.split()).replace('"', "'").replace("<", "(").replace(">", ")")
    return flat if len(flat) <= _LABEL_LIMIT else flat[: _LABEL_LIMIT - 1] + "…"


def mark_untrusted_content(
    content: Sequence[ResultContent], source: str, secret: str
) -> tuple[ResultContent, ...]:
    """Return a result's content with each text marked; unchanged without a secret (old logs)."""
    if not secret:
        return tuple(content)
    return tuple(
        TextPart(text=mark_untrusted(part.text, source, secret))
        if isinstance(part, TextPart) and part.text.strip()
        else part
        for part in content
    )
