"""Text of BibTeX fields: LaTeX commands as Unicode, braces as protection of capital letters.

Used by ``references.styles.csl_items`` in the worker process.
"""

from __future__ import annotations

import re

from jupyter_ai_shoulders.references.latex_text import decoded

_GROUP = re.compile(r"\{([^{}\\$]*)\}")
"""A group without commands: its capital letters are kept."""
_START, _END = "\ue000", "\ue001"
"""Private characters that mark protected text while LaTeX is converted."""


_KEPT_TAG = re.compile(r"</?(?:i|b|sup|sub)>")
_ENTITIES = {"<": "\ue002", ">": "\ue003", "&": "\ue004"}
"""Private characters for what has a meaning in HTML: citeproc-py does not escape values."""
_RESTORED = str.maketrans(
    {
        private: f"&{name};"
        for private, name in zip(_ENTITIES.values(), ("lt", "gt", "amp"), strict=True)
    }
)


def plain_text(text: str) -> str:
    """Return a field as text without braces on one line, for the processor."""
    return _encoded(decoded(text))


def restore_characters(html: str) -> str:
    """Return rendered HTML with the characters of fields that HTML has a use for, as entities."""
    return html.translate(_RESTORED)


def _encoded(text: str) -> str:
    """Replace ``<``, ``>`` and ``&``; keep pairs of simple tags, which registers use in titles."""
    tags = _KEPT_TAG.findall(text)
    kept = {tag for tag in tags if tags.count(tag) == tags.count(_partner(tag))}
    encoded = str.maketrans(_ENTITIES)
    parts = re.split(f"({_KEPT_TAG.pattern})", text) if kept else [text]
    return "".join(part if part in kept else part.translate(encoded) for part in parts)


def _partner(tag: str) -> str:
    """Return the closing tag of an opening one, and the other way round."""
    return f"<{tag[2:]}" if tag.startswith("</") else f"</{tag[1:]}"


def protected_text(text: str) -> str:
    """Return a field as CSL-JSON text: groups in braces are ``span``s of class ``nocase``."""
    whole = text.strip()
    if whole.startswith("{") and _GROUP.fullmatch(whole):
        whole = whole[1:-1]  # a field in double braces protects everything, which styles override
    marked = _GROUP.sub(lambda group: f"{_START}{group[1]}{_END}", whole)
    plain = decoded(marked)
    return re.sub(
        f"{_START}(.*?){_END}",
        lambda group: f'<span class="nocase">{group[1]}</span>' if group[1].strip() else group[1],
        _encoded(plain),
    )
