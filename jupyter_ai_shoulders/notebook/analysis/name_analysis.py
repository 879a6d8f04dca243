"""The names that a Python cell binds, changes and needs, from its syntax.

Pure; used by ``notebook.analysis.staleness``, ``notebook.analysis.run_history`` and
``changes.restore.kernel_drift``. Dynamic code (``exec``, star imports, ``%run``) makes a cell
opaque; a cell that does not parse is unknown. Method calls that change their object
(``rows.append``) are not seen as changes.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

from jupyter_ai_shoulders.notebook.analysis.cell_scopes import CellScopes
from jupyter_ai_shoulders.notebook.analysis.magics import PlainCell, plain_cell
from jupyter_ai_shoulders.notebook.analysis.scope_visitor import collect_names

_MAY_WARN = re.compile(r"\\|[0-9a-fA-F_.](?:if|else|and|or|in|is|for|not)\b")
"""An escape, or a keyword directly after a number: the only causes of warnings by the parser."""


@dataclass(frozen=True, slots=True)
class CellNames:
    """What a cell does with the names of the kernel."""

    uses: frozenset[str] = frozenset()
    """Read before the cell certainly binds them."""
    defines: frozenset[str] = frozenset()
    """Bound, regardless of their earlier value."""
    changes: frozenset[str] = frozenset()
    """Changed in place: ``df["a"] = 1``, ``n += 1``, ``del rows[0]``, ``del x``."""
    mentions: frozenset[str] = frozenset()
    """Mentioned in a magic or a shell line; read if they exist."""
    calls_need: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Free names of the functions and classes it defines: read when those are called."""
    fixed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names bound only by an import or a plain ``def``, with its text: the same in each run."""
    opaque: bool = False
    """Whether it may bind unknown names."""
    known: bool = True
    """False when the source is not valid Python."""

    @property
    def touches(self) -> frozenset[str]:
        """Names that differ after it ran."""
        return self.defines | self.changes


UNKNOWN = CellNames(opaque=True, known=False)


def cell_names(source: str) -> CellNames:
    """Return what a cell does with names; ``UNKNOWN`` when it does not parse."""
    plain = plain_cell(source)
    try:
        return _names(plain, collect_names(_parsed(plain.code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return UNKNOWN


def _parsed(code: str) -> list[ast.stmt]:
    """Parse without warnings about the user's code; silence them only if needed."""
    if _MAY_WARN.search(code) is None:
        return ast.parse(code).body
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code).body


def _names(plain: PlainCell, scopes: CellScopes) -> CellNames:
    """Combine the names of its Python and its magics."""
    separate = plain.separate
    fixed = {name: text for name, text in scopes.fixed.items() if scopes.is_fixed(name)}
    return CellNames(
        uses=frozenset(scopes.uses),
        defines=frozenset() if separate else frozenset(scopes.defines | plain.binds),
        changes=frozenset(scopes.changes),
        mentions=frozenset(plain.mentions),
        calls_need={} if separate else scopes.calls_need,
        fixed={} if separate else fixed,
        opaque=plain.opaque or scopes.opaque,
    )
