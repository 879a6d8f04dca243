"""Folders of generated files, by the kind of project that contains them.

The tools of each language can recreate them, so listings and searches leave them out. Used by
``guard.search.directory_listing`` and ``guard.search.tree_search``; a folder named explicitly is
shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

ALWAYS = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})
"""Left out everywhere."""

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
"""Left out of a folder that contains the manifest file."""


def generated_folder_names(names: Collection[str]) -> frozenset[str]:
    """Return the sub-folders to leave out of a folder with these entries."""
    found = [ignored for manifest, ignored in BY_MANIFEST.items() if manifest in names]
    return ALWAYS.union(*found)
