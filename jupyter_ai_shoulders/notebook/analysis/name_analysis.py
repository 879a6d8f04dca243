"""Which names a cell of Python binds, changes and needs, read off its syntax (chapter 06).

Pure; used by ``notebook.analysis.staleness``, ``notebook.analysis.run_history`` and
``changes.restore.kernel_drift``. What no syntax tells (``exec``, star imports, ``%run``) makes a
cell opaque; what does not parse is unknown. Method calls that change their object (``rows.append``)
are not seen as changes.
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
"""An escape, or a keyword right behind a number: all that parsing itself warns of."""


@dataclass(frozen=True, slots=True)
class CellNames:
    """What a cell does with the names of the kernel."""

    uses: frozenset[str] = frozenset()
    """Read as it runs, before it surely bound them itself."""
    defines: frozenset[str] = frozenset()
    """Bound, whatever they were before."""
    changes: frozenset[str] = frozenset()
    """Changed in place: ``df["a"] = 1``, ``n += 1``, ``del rows[0]``, ``del x``."""
    mentions: frozenset[str] = frozenset()
    """Spoken of in a magic or a shell line; read if they are there."""
    calls_need: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Free names of the functions and classes it defines: read when those are called."""
    fixed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names that only an import or a plain ``def`` binds, with its text: the same each time."""
    opaque: bool = False
    """Whether it may bind names that nobody sees."""
    known: bool = True
    """False when the source could not be read as Python."""

    @property
    def touches(self) -> frozenset[str]:
        """Names that are others after it ran."""
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
    """Parse; what Python warns of is the user's code, not ours. To silence it takes a while."""
    if _MAY_WARN.search(code) is None:
        return ast.parse(code).body
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code).body


def _names(plain: PlainCell, scopes: CellScopes) -> CellNames:
    """Put together what its Python and its magics do."""
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
