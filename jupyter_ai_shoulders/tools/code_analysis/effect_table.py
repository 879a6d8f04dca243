"""Effects of Python and IPython names, from ``code_effects.json``, which names its sources.

Used by ``tools.code_analysis.python_effects`` and ``tools.code_analysis.effects``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from jupyter_ai_shoulders.tools.permissions.programs import DataSource
from jupyter_ai_shoulders.wire.events import EffectKind

_ByEffect = dict[EffectKind, tuple[str, ...]]


class EffectTable(BaseModel):
    """The content of ``code_effects.json``, whose ``about`` explains each list."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str
    sources: tuple[DataSource, ...]
    modules: _ByEffect
    names: _ByEffect
    methods: _ByEffect
    methods_with_arguments: _ByEffect
    openers: dict[str, int]
    readers: tuple[str, ...]
    aliases: dict[str, str]
    libraries: tuple[str, ...]
    line_magics: dict[str, tuple[str, ...]]
    cell_magics: dict[str, tuple[str, ...]]


def load_effect_table() -> EffectTable:
    """Read the table from its file."""
    text = (
        files("jupyter_ai_shoulders.tools.code_analysis")
        .joinpath("code_effects.json")
        .read_text("utf-8")
    )
    return EffectTable.model_validate_json(text)


@dataclass(frozen=True, slots=True)
class EffectIndex:
    """The table indexed by name."""

    modules: dict[str, EffectKind]
    names: dict[str, EffectKind]
    methods: dict[str, EffectKind]
    methods_with_arguments: dict[str, EffectKind]
    openers: dict[str, int]
    readers: frozenset[str]
    aliases: dict[str, str]
    known: frozenset[str]
    """Packages whose import has no effects, or whose effects are in the table."""
    holders: frozenset[str]
    """Modules and classes that have some names with effects."""
    line_magics: dict[str, str]
    cell_magics: dict[str, str]


@cache
def effect_index() -> EffectIndex:
    """Return the index, built once."""
    table = load_effect_table()
    modules, names = _by_name(table.modules), _by_name(table.names)
    return EffectIndex(
        modules=modules,
        names=names,
        methods=_by_name(table.methods),
        methods_with_arguments=_by_name(table.methods_with_arguments),
        openers=table.openers,
        readers=frozenset(table.readers),
        aliases=table.aliases,
        known=frozenset(sys.stdlib_module_names)
        | {name.partition(".")[0] for name in (*table.libraries, *modules)},
        holders=frozenset(
            name.rpartition(".")[0] for name in (*names, *table.openers) if "." in name
        ),
        line_magics={name: kind for kind, each in table.line_magics.items() for name in each},
        cell_magics={name: kind for kind, each in table.cell_magics.items() for name in each},
    )


def _by_name(rows: _ByEffect) -> dict[str, EffectKind]:
    return {name: effect for effect, names in rows.items() for name in names}
