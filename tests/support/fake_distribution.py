"""Installs a tiny package for the time of a test, as an installer leaves it behind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

GROUP = "jupyter_ai_shoulders.tools"


def install_distribution(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    name: str,
    source: str,
    version: str = "1.0",
    target: str | None = None,
) -> str:
    """Put a distribution with one module and one entry point on the path; return the module.

    ``target`` is the entry point's; the module's ``tools`` by default.
    """
    module = name.replace("-", "_")
    (folder / f"{module}.py").write_text(source, "utf-8")
    facts = folder / f"{module}-{version}.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (facts / "entry_points.txt").write_text(f"[{GROUP}]\nmain = {target or f'{module}:tools'}\n")
    (facts / "RECORD").write_text(f"{module}.py,,\n")
    if str(folder) not in sys.path:
        monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, module, raising=False)  # and it is forgotten at the end
    return module
