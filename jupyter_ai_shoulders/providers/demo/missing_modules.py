"""Diagnoses a missing library, or a name missing from one: mistyped, moved, or not installed.

Pure; used by ``diagnosis``.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Sequence

from jupyter_ai_shoulders.providers.demo.code_analysis import parsed
from jupyter_ai_shoulders.providers.demo.diagnosis_results import Diagnosis, Edit, Unknown
from jupyter_ai_shoulders.providers.demo.known_imports import (
    ALIASES,
    MEMBERS,
    MODULES,
    PACKAGE_NAMES,
)
from jupyter_ai_shoulders.providers.demo.notebook import ParsedCell

NEAR = 0.8


def missing_module(cell: ParsedCell, module: str) -> Diagnosis:
    """Return the diagnosis of a missing module."""
    moved = moved_members(cell, module)
    if moved is not None:
        return moved
    top = module.partition(".")[0]
    source = mended_import(cell.source, top) if top not in MODULES else cell.source
    near = near_module(top)
    if near is not None and source != cell.source:
        return Edit(source, f"there is no library `{top}`", f"changed it to `{near}`")
    package = PACKAGE_NAMES.get(top, top)
    return Unknown(
        f"The library `{module}` is not installed in this kernel. Running `%pip install {package}` "
        "in a cell installs it; I never install anything myself."
    )


def missing_member(cell: ParsedCell, member: str, module: str) -> Diagnosis:
    """Return the diagnosis of a name that a module lacks."""
    return moved_members(cell, module) or Unknown(
        f"`{module}` does not offer `{member}` in the installed version. Look for its new name in "
        "the library's documentation; I have no rule for it."
    )


def near_module(name: str) -> str | None:
    """Return the well-known library that a name is a misspelling of."""
    known = {target.partition(".")[0] for target in ALIASES.values()} | MODULES
    found = difflib.get_close_matches(name, sorted(known - {name}), 1, NEAR)
    return found[0] if found and name not in known else None


def mended_import(source: str, name: str) -> str:
    """Return the source with the library's name corrected in its imports."""
    near = near_module(name)
    if near is None:
        return source
    pattern = re.compile(rf"^(\s*(?:import|from)\s+){re.escape(name)}\b", re.MULTILINE)
    return pattern.sub(rf"\g<1>{near}", source)


def moved_members(cell: ParsedCell, module: str) -> Edit | None:
    """Return the edit where all names imported from a module moved to the same place."""
    for node in ast.walk(parsed(cell.source) or ast.Module([], [])):
        if isinstance(node, ast.ImportFrom) and node.module == module:
            home = common_home([alias.name for alias in node.names], module)
            if home is not None:
                pattern = re.compile(rf"^(\s*from\s+){re.escape(module)}(?=\s)", re.MULTILINE)
                named = " and ".join(f"`{alias.name}`" for alias in node.names)
                return Edit(
                    pattern.sub(rf"\g<1>{home}", cell.source),
                    f"`{module}` does not have {named}",
                    f"changed it to `{home}`, where that is today",
                )
    return None


def common_home(members: Sequence[str], module: str) -> str | None:
    """Return the module of the same library that has all these names."""
    homes = {MEMBERS.get(name) for name in members}
    home = homes.pop() if len(homes) == 1 else None
    if home is None or home == module:
        return None
    return home if home.partition(".")[0] == module.partition(".")[0] else None
