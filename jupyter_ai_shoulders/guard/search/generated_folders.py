"""Folders that hold no work of the user, by what kind of project a folder is (chapter 07).

What the tools of each language make and can make again: listing or searching it only buries what
matters. Used by ``guard.search.directory_listing`` and ``guard.search.tree_search``; a folder named
outright is shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

ALWAYS = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})
"""Left out of every workspace."""

BY_MANIFEST: Mapping[str, frozenset[str]] = {
    "pyproject.toml": frozenset({"build", "dist", "htmlcov"}),
    "setup.py": frozenset({"build", "dist", "htmlcov"}),
    "package.json": frozenset({"dist", "coverage"}),
    "Cargo.toml": frozenset({"target"}),
    "pom.xml": frozenset({"target"}),
    "build.gradle": frozenset({"build"}),
    "renv.lock": frozenset({"renv"}),
    "packrat.lock": frozenset({"packrat"}),
    "_quarto.yml": frozenset({"_site", "_book", "_freeze"}),
    "Snakefile": frozenset({".snakemake"}),
}
"""Left out of a folder that has the file beside them."""


def generated_folder_names(names: Collection[str]) -> frozenset[str]:
    """Return which sub-folders of a folder with these entries are left out."""
    found = [ignored for manifest, ignored in BY_MANIFEST.items() if manifest in names]
    return ALWAYS.union(*found)
