"""Lists the crash points in the source; the sweep must hit each."""

from __future__ import annotations

import re
from pathlib import Path

import jupyter_ai_shoulders

_CALL = re.compile(r"""(?<![\w`])crash_point\(\s*["']([^"']+)["']\s*\)""")


def list_crash_points(root: Path | None = None) -> dict[str, str]:
    """Return each point's name and file. Raises ``ValueError`` for a duplicate name."""
    folder = root or Path(jupyter_ai_shoulders.__file__).parent
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*.py")):
        for name in _CALL.findall(path.read_text(encoding="utf-8")):
            if name in found:
                raise ValueError(f"the crash point {name} stands in {found[name]} and in {path}")
            found[name] = path.relative_to(folder).as_posix()
    return found
