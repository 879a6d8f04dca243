"""A kernel's variables as values, and as text for the model.

Made by ``notebook.kernels.variables`` from the answers of the snippets in the kernels; rendered for
``inspect_variables``, the workspace meta and attachments. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from jupyter_ai_shoulders.wire.api.settings import DataValues

SHORT_COLUMNS = 12
"""Columns listed per frame where all variables share a small budget."""


class _SnippetModel(BaseModel):
    """Part of a snippet's answer; validated, because it comes from the user's kernel."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


class ColumnInfo(_SnippetModel):
    """A column of a frame."""

    name: str
    dtype: str | None = None
    nulls: int | None = None
    """Number of missing values; None when they were not counted."""
    nulls_estimated: bool = False
    sample: tuple[str, ...] | None = None


class VariableInfo(_SnippetModel):
    """One variable; fields that do not apply or are unknown are None."""

    name: str
    type: str
    size: int | None = None
    """Items of a container, characters of a text."""
    shape: tuple[int | None, ...] | None = None
    dtype: str | None = None
    bytes: int | None = None
    device: str | None = None
    index: str | None = None
    label: str | None = None
    """The name of a series."""
    keys: tuple[str, ...] = ()
    """Types of a mapping's keys."""
    items: tuple[str, ...] = ()
    """Types of a container's items."""
    nulls: int | None = None
    nulls_estimated: bool = False
    columns: tuple[ColumnInfo, ...] = ()
    columns_total: int | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    value: str | None = None
    sample: tuple[str, ...] | None = None
    hidden: bool = False
    """Its name says that it is a secret: its value is never included."""
    skipped: bool = False
    """Not examined for lack of time."""
    failed: str | None = None
    """The error that ended the examination."""


class NamespaceInfo(_SnippetModel):
    """The complete answer of a snippet."""

    variables: tuple[VariableInfo, ...] = ()
    total: int = 0
    more: tuple[str, ...] = ()
    """Variables that were not described for lack of space."""
    functions: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    modules: tuple[tuple[str, str], ...] = ()
    unlisted: int = 0
    seconds: float = 0.0

    def only(self, names: Sequence[str]) -> NamespaceInfo:
        """Return the information about the named variables."""
        found = tuple(variable for variable in self.variables if variable.name in names)
        return NamespaceInfo(variables=found, total=len(found))


@dataclass(frozen=True, slots=True)
class VariableSnapshot:
    """An answer of a kernel, and its age."""

    kernel_id: str
    kernel_name: str
    language: str
    level: DataValues
    namespace: NamespaceInfo
    age_s: float = 0.0
    """Age of the answer in seconds."""
    why_old: str | None = None
    """Why there is no newer answer; None for a new one."""


def variable_lines(namespace: NamespaceInfo) -> Iterator[str]:
    """Yield everything that is known, frames with one line per column."""
    for variable in namespace.variables:
        yield f"{_clean(variable.name)}: {variable_text(variable)}"
        yield from (f"    {line}" for line in _detail_lines(variable))
    yield from _other_lines(namespace)


def short_text(namespace: NamespaceInfo, limit: int) -> str:
    """Return the variables within ``limit`` characters, frames with their column names."""
    lines: list[str] = []
    room = limit
    for at, variable in enumerate(namespace.variables):
        line = f"{_clean(variable.name)}: {variable_text(variable)}{_short_columns(variable)}"
        if len(line) + 1 > room:
            lines.append(f"… {namespace.total - at} more")
            break
        lines.append(line)
        room -= len(line) + 1
    lines += [line for line in _other_lines(namespace) if len(line) + 1 <= room]
    return "\n".join(lines)


def variable_text(variable: VariableInfo) -> str:
    """Return a variable in one line, without its name and columns."""
    parts = [_clean(variable.type), *_facts(variable)]
    if variable.value is not None:
        parts.append(f"= {_clean(variable.value)}")
    if variable.hidden:
        parts.append("value not told: the name says it is a secret")
    if variable.skipped:
        parts.append("not looked into: no time left")
    if variable.failed is not None:
        parts.append(f"not looked into ({_clean(variable.failed)})")
    return " · ".join(parts)


def _facts(variable: VariableInfo) -> Iterator[str]:
    if variable.label is not None:
        yield f'"{_clean(variable.label)}"'
    if variable.shape is not None:
        yield (
            " × ".join("?" if size is None else f"{size:,}" for size in variable.shape) or "scalar"
        )
    if variable.dtype is not None:
        yield _clean(variable.dtype)
    if variable.size is not None:
        yield _size_text(variable)
    if variable.nulls is not None:
        yield _missing(variable.nulls, estimated=variable.nulls_estimated)
    if variable.bytes is not None:
        yield _bytes_text(variable.bytes)
    for extra in (variable.device, variable.index):
        if extra is not None:
            yield _clean(extra)
    if variable.sample:
        yield f"values: {_joined(variable.sample)}"


def _size_text(variable: VariableInfo) -> str:
    if not variable.items and not variable.keys:
        unit = {"str": "character", "bytes": "byte"}.get(variable.type, "item")
        return f"{variable.size:,} {unit}{'s' * (variable.size != 1)}"
    held = _joined(variable.items)
    held = f"{_joined(variable.keys)} → {held}" if variable.keys else held
    return f"{variable.size:,} items of {held}"


def _detail_lines(variable: VariableInfo) -> Iterator[str]:
    for column in variable.columns:
        parts = [_clean(column.dtype or "?")]
        if column.nulls is not None:
            parts.append(_missing(column.nulls, estimated=column.nulls_estimated))
        if column.sample:
            parts.append(f"values: {_joined(column.sample)}")
        yield f"{_clean(column.name)}: {' · '.join(parts)}"
    left_out = (variable.columns_total or 0) - len(variable.columns)
    if left_out > 0:
        yield f"… {left_out:,} more columns"
    yield from (f".{_clean(name)}: {_clean(kind)}" for name, kind in variable.attributes)


def _short_columns(variable: VariableInfo) -> str:
    if not variable.columns:
        return ""
    shown = variable.columns[:SHORT_COLUMNS]
    named = [f"{_clean(column.name)} {_clean(column.dtype or '?')}" for column in shown]
    left_out = (variable.columns_total or len(variable.columns)) - len(shown)
    return f" · columns: {', '.join(named)}{f', … {left_out:,} more' if left_out > 0 else ''}"


def _other_lines(namespace: NamespaceInfo) -> Iterator[str]:
    if namespace.more:
        yield f"more variables: {_joined(namespace.more)}"
    if namespace.functions:
        yield f"functions: {_joined(namespace.functions)}"
    if namespace.classes:
        yield f"classes: {_joined(namespace.classes)}"
    if namespace.modules:
        named = (
            name if name == module else f"{name} ({module})" for name, module in namespace.modules
        )
        yield f"modules: {_joined(named)}"
    if namespace.unlisted:
        yield f"… {namespace.unlisted:,} more names"


def _missing(count: int, *, estimated: bool) -> str:
    return f"about {count:,} missing" if estimated else f"{count:,} missing"


def _bytes_text(size: int) -> str:
    amount = float(size)
    for unit in ("B", "KB", "MB", "GB"):
        if amount < 1_000 or unit == "GB":
            return f"{amount:.0f} {unit}" if amount >= 10 or unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1_000
    return f"{size} B"


def _joined(names: Iterable[str]) -> str:
    return ", ".join(_clean(name) for name in names)


def _clean(text: str) -> str:
    """Return a name without line breaks and invisible characters."""
    return "".join(char if char.isprintable() else " " for char in text)
