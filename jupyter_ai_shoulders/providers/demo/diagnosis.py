"""Why a cell fails and what would help, worked out from its error and the notebook's code.

Pure; used by the ``fix`` and ``plot`` skills.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from jupyter_ai_shoulders.providers.demo import code_analysis
from jupyter_ai_shoulders.providers.demo.dataframes import all_columns, closest_name
from jupyter_ai_shoulders.providers.demo.diagnosis_results import Diagnosis, Edit, RunFirst, Unknown
from jupyter_ai_shoulders.providers.demo.known_imports import import_for
from jupyter_ai_shoulders.providers.demo.missing_attributes import missing_attribute
from jupyter_ai_shoulders.providers.demo.missing_files import missing_file, missing_path
from jupyter_ai_shoulders.providers.demo.missing_modules import missing_member, missing_module
from jupyter_ai_shoulders.providers.demo.notebook import ParsedCell, ParsedNotebook

NAME_ERROR = re.compile(r"^NameError: (?:free variable |name )'(\w+)'")
KEY_ERROR = re.compile(r"^KeyError: (['\"])(?:Columns? not found: )?['\"]?(.+?)['\"]?\1")
COLUMN_ERROR = re.compile(r"^KeyError: .*\[(['\"])(.+?)\1")
MODULE_ERROR = re.compile(r"^(?:ModuleNotFoundError|ImportError): No module named '([\w.]+)'")
MEMBER_ERROR = re.compile(r"^ImportError: cannot import name '(\w+)' from '([\w.]+)'")
NEAR = 0.72


def diagnose(
    notebook: ParsedNotebook, cell: ParsedCell, error: str, listed: Sequence[str] | None = None
) -> Diagnosis:
    """Return what to do about an error in a cell; ``listed``: see ``missing_file``."""
    path = missing_path(error)
    if path is not None:
        return missing_file(notebook, cell, path, listed)
    name = NAME_ERROR.match(error)
    if name:
        return missing_name(notebook, cell, name[1])
    key = KEY_ERROR.match(error) or COLUMN_ERROR.match(error)
    if key:
        return missing_key(notebook, cell, key[2])
    found = missing_import(cell, error) or missing_attribute(notebook, cell, error)
    return found or Unknown(meaning(error))


def missing_import(cell: ParsedCell, error: str) -> Diagnosis | None:
    """Return what to do about an import that fails, or None for another error."""
    module = MODULE_ERROR.match(error)
    if module:
        return missing_module(cell, module[1])
    member = MEMBER_ERROR.match(error)
    return missing_member(cell, member[1], member[2]) if member else None


def missing_name(notebook: ParsedNotebook, cell: ParsedCell, name: str) -> Diagnosis:
    """A name has no value: never imported, defined elsewhere, or mistyped."""
    others = [other for other in notebook.code if other.id != cell.id]
    defining = code_analysis.definers(name, others)
    above = [other for other in defining if other.number < cell.number]
    if above:
        needed = tuple(code_analysis.needed_before(cell, notebook.code))
        return RunFirst(
            name, needed or (above[-1],), False, f"`{name}` is defined in cell {above[-1].number}, "
            "which had not been run in this kernel"
        )  # fmt: skip
    statement = next(
        filter(None, (code_analysis.is_import_of(name, other.source) for other in defining)), None
    )
    statement = statement or (None if defining else import_for(name))
    if statement:
        return Edit(
            code_analysis.with_import(cell.source, statement),
            f"`{name}` was never imported",
            f"added `{statement}` at the top",
        )
    if defining:
        return RunFirst(
            name, (defining[0],), True, f"`{name}` is only defined further down, in cell "
            f"{defining[0].number}"
        )  # fmt: skip
    return mistyped_name(notebook, cell, name)


def mistyped_name(notebook: ParsedNotebook, cell: ParsedCell, name: str) -> Diagnosis:
    """Nothing defines the name; perhaps something near it is."""
    known = sorted(
        {known for other in notebook.code for known in code_analysis.names(other.source).defined}
    )
    near = difflib.get_close_matches(name, [known for known in known if known != name], 1, NEAR)
    source = code_analysis.renamed(cell.source, name, near[0]) if near else cell.source
    if source == cell.source:
        return Unknown(
            f"Nothing in the notebook defines `{name}`, and I know no library it usually comes "
            "from. Tell me what it should be, or define it above."
        )
    return Edit(source, f"`{name}` does not exist", f"changed it to `{near[0]}`, which does")


def missing_key(notebook: ParsedNotebook, cell: ParsedCell, key: str) -> Diagnosis:
    """A key or column does not exist; perhaps one near it does."""
    near = closest_name(key, [column for column in all_columns(notebook) if column != key])
    source = code_analysis.with_string(cell.source, key, near) if near else cell.source
    if near is None or source == cell.source:
        return Unknown(
            f"There is no key or column `{key}`. Look at the names that exist (for a dataframe "
            "`list(df.columns)`), and tell me which one is meant."
        )
    return Edit(source, f"there is no `{key}`", f"changed it to `{near}`, which exists")


MEANINGS = {
    "SyntaxError": "Python could not read the code: look for a missing bracket, quote or colon.",
    "IndentationError": "The lines of a block are not indented equally.",
    "TypeError": "A value has a different type from what the operation needs.",
    "ValueError": "A value has the right type, but its content makes no sense here.",
    "AttributeError": "The object has no attribute of that name: look for a typo, or another type.",
    "IndexError": "An index is outside the list or table.",
    "ZeroDivisionError": "Something was divided by zero.",
    "FileNotFoundError": "The file does not exist at that path, seen from the notebook's folder.",
    "ImportError": "The library is there, but does not offer that name in the installed version.",
    "KeyboardInterrupt": "The cell was interrupted; its code is not the cause.",
    "MemoryError": "The data did not fit into memory.",
}


def meaning(error: str) -> str:
    """Return what an error means in general."""
    general = MEANINGS.get(error.partition(":")[0], "I have no rule for this kind of error.")
    return f"{general} I have no rule that fixes this one."


def unresolved(notebook: ParsedNotebook, cell: ParsedCell) -> str | None:
    """Return a name that a cell uses and that nothing defines before it, if there is one.

    Names that are only defined further down count; none does when the code hides names.
    """
    if any(code_analysis.names(other.source).more for other in notebook.code):
        return None
    above = [other for other in notebook.code if other.number < cell.number]
    known = {name for other in above for name in code_analysis.names(other.source).defined}
    missing = code_analysis.undefined(cell.source) - known
    return code_analysis.first_used(missing, cell.source) if missing else None


def first_unresolved(
    notebook: ParsedNotebook, order: Sequence[ParsedCell]
) -> tuple[ParsedCell, str] | None:
    """Return the first of these cells that uses a name nothing defines, with the name."""
    for cell in order:
        name = unresolved(notebook, cell)
        if name is not None:
            return cell, name
    return None
