"""The id of the kernel that this process is. Called by ``client``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

KERNEL_ID = "SHOULDERS_KERNEL_ID"
"""Set by the server in the kernels it starts."""
_CONNECTION_FILE = re.compile(r"kernel-(.+)\.json")


def own_kernel_id(environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the id of the kernel that this process is; None outside a kernel."""
    if environ.get(KERNEL_ID):
        return environ[KERNEL_ID]
    if "ipykernel" not in sys.modules:
        return None
    from ipykernel.connect import get_connection_file

    try:
        file = get_connection_file()
    except RuntimeError:  # ipykernel is imported, but no kernel runs
        return None
    found = _CONNECTION_FILE.fullmatch(Path(file).name)
    return found[1] if found else None
