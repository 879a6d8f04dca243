"""Keeps what a panel's page asks for below the API's root. Called by ``relay``. Pure."""

from __future__ import annotations

import re
from urllib.parse import unquote

_UNFIT = re.compile(r"[\x00-\x20\x7f\\#]")
_ENOUGH = 4
"""How often a path is decoded in search of dots; nobody but an attacker encodes even twice."""


_KERNELS_ONLY = "/proxy-secret"
"""The route that hands out what kernels prove themselves with; no page asks for it."""


class OutsideApi(ValueError):
    """A path leads out of what a page may ask for."""


def below_api(path: str) -> str:
    """Return a path relative to the API's root as it is. Raises ``OutsideApi``."""
    where = path.partition("?")[0]
    if not where or where.startswith("/") or ":" in where.split("/")[0] or _UNFIT.search(path):
        raise OutsideApi(f"{path!r} is no path below the API of the AI colleague.")
    for _ in range(_ENOUGH):
        if "\\" in where or any(part in {".", ".."} for part in where.split("/")):
            raise OutsideApi(f"{path!r} leads out of the API of the AI colleague.")
        where = unquote(where)
    if where.rstrip("/").endswith(_KERNELS_ONLY):
        raise OutsideApi(f"{path!r} is for the kernels of the AI colleague, not for pages.")
    return path
