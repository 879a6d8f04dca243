"""Describes a variable for a prompt: its type, and as much of its value as may be sent.

Called by ``prompt_text``. The kernel that runs a magic is busy, so the server's inspection
(``notebook.snippets``) would wait for it; this one runs in the cell itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from itertools import islice
from typing import Any, cast

from jupyter_ai_shoulders.client.lazy_imports import wire

_SECRET_WORDS = ("password", "passwd", "secret", "token", "api_key", "apikey", "credential")
"""The same words as in ``notebook.snippets.python.values``."""
_COLUMNS = 60
_COUNTS: dict[wire.DataValues, int] = {"schema_only": 0, "samples": 3, "full": 20}
_LENGTHS: dict[wire.DataValues, int] = {"schema_only": 0, "samples": 60, "full": 20_000}


def is_secret(name: str) -> bool:
    """Return whether a variable's name suggests a secret value."""
    lower = name.lower()
    return any(word in lower for word in _SECRET_WORDS)


def describe_variable(name: str, value: Any, level: wire.DataValues) -> str:
    """Return a variable as text for a model; if its own code fails, its type."""
    if level == "schema_only" or is_secret(name):
        return f"<{name}: {_kind(value)}>"
    if isinstance(value, str):
        return value[: _LENGTHS[level]] + (" […]" if len(value) > _LENGTHS[level] else "")
    if value is None or isinstance(value, bool | int | float | complex):
        return repr(value)
    try:
        sample = _sample(value, level)
    except Exception:  # noqa: BLE001 - a value's own code, which may raise anything
        sample = "[its value cannot be shown]"
    return f"<{name}: {_kind(value)}>\n{sample}".rstrip()


def _kind(value: Any) -> str:
    """Return the type, size and columns of a value; if its own code fails, the type."""
    try:
        return _described_kind(value)
    except Exception:  # noqa: BLE001 - a value's own code, which may raise anything
        return type(value).__name__


def _described_kind(value: Any) -> str:
    name = type(value).__name__
    columns = _columns(value)
    if columns:
        return f"{name}, {_shape(value)}, columns {columns}"
    if isinstance(value, str):
        return f"str of {len(value)} characters"
    if isinstance(value, Mapping | Sequence | set | frozenset):
        return f"{name} of {len(cast('Sized', value))}"
    if shape := _shape(value):
        return f"{name}, {shape} of {getattr(value, 'dtype', 'values')}"
    return name


def _shape(value: Any) -> str:
    shape: Any = getattr(value, "shape", None)
    if not isinstance(shape, tuple):
        return ""
    return " × ".join(str(size) for size in cast("tuple[Any, ...]", shape))


def _columns(value: Any) -> str:
    """Return names and types of a table's columns, for pandas and polars."""
    if type(value).__module__.partition(".")[0] not in {"pandas", "polars"}:
        return ""
    names, types = getattr(value, "columns", None), getattr(value, "dtypes", None)
    if names is None or types is None:
        return ""
    pairs = [f"{name} ({kind})" for name, kind in islice(zip(names, types, strict=False), _COLUMNS)]
    more = f" and {len(names) - _COLUMNS} more" if len(names) > _COLUMNS else ""
    return ", ".join(pairs) + more


def _sample(value: Any, level: wire.DataValues) -> str:
    count, length = _COUNTS[level], _LENGTHS[level]
    if _columns(value):
        text, length = str(value.head(count)), max(length, 2_000)
    else:
        text = repr(_beginning(value, count))
    return text[:length] + (" […]" if len(text) > length else "")


def _beginning(value: Any, count: int) -> Any:
    """Return the first items of a container; any other value unchanged."""
    if isinstance(value, Mapping):
        return dict(islice(cast("Mapping[Any, Any]", value).items(), count))
    if isinstance(value, list | tuple | set | frozenset):
        return list(islice(cast("Iterable[Any]", value), count))
    return value
