"""Reads the code of the panel's page, which ``make build`` writes. Called by ``server_relay``."""

from __future__ import annotations

from pathlib import Path

STATIC = Path(__file__).parent / "static"
LOADER = Path(__file__).parent / "loader.js"
"""Small, because front ends store a widget's own module in saved notebooks. It loads the panel's
code from us, and shows the transcript if no kernel answers.
"""


class BundleNotBuilt(Exception):
    """The code of the page is missing."""


def read_bundle(static: Path = STATIC) -> tuple[bytes, bytes]:
    """Return the module and its separate style sheet, if any. Raises ``BundleNotBuilt``."""
    style = static / "panel.css"
    try:
        return (static / "panel.js").read_bytes(), style.read_bytes() if style.exists() else b""
    except OSError as error:
        raise BundleNotBuilt(
            f"The page half of the AI panel is not there ({error}). In a checkout run `make "
            "build`; elsewhere install the package anew: pip install --force-reinstall "
            '"jupyter-ai-shoulders[kernel]".'
        ) from error
