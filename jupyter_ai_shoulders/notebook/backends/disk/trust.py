"""Signs a notebook again after an edit on disk, when it was trusted before.

Without this the lab would stop showing the notebook's own JavaScript and HTML. Used by
``notebook.backends.disk.notebooks`` from its writer thread only: the signature database belongs to
the thread that opened it.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jupyter_ai_shoulders.notebook.cells import joined_bundle, joined_output
from jupyter_ai_shoulders.notebook.formats.notebook_file import ParsedNotebook

if TYPE_CHECKING:
    from nbformat.sign import NotebookNotary

_log = logging.getLogger(__name__)
_FAILURES = (sqlite3.Error, OSError, UnicodeEncodeError, ValueError)


def user_notary() -> NotebookNotary:
    """Return the notary of the user's Jupyter data directory."""
    from jupyter_core.paths import jupyter_data_dir
    from nbformat.sign import NotebookNotary

    directory = Path(jupyter_data_dir())
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return NotebookNotary(data_dir=str(directory))


class NotebookTrust:
    """Checks and makes the signatures by which Jupyter trusts a notebook's outputs."""

    def __init__(self, make_notary: Callable[[], NotebookNotary] = user_notary) -> None:
        self._make_notary = make_notary
        self._notary: Any = None
        self._stack = contextlib.ExitStack()

    def is_trusted(self, notebook: ParsedNotebook) -> bool:
        """Return whether this notebook is signed; False when that is unknown."""
        try:
            notary = self._open()
            signature = notary.compute_signature(_signed_content(notebook))
            return bool(notary.store.check_signature(signature, notary.algorithm))
        except _FAILURES as error:
            _log.warning("Whether the notebook is trusted could not be checked: %s", error)
            return False

    def sign(self, notebook: ParsedNotebook) -> None:
        """Trust this notebook."""
        try:
            notary = self._open()
            signature = notary.compute_signature(_signed_content(notebook))
            notary.store.store_signature(signature, notary.algorithm)
        except _FAILURES as error:
            _log.warning("The edited notebook could not be signed, trust it again: %s", error)

    def close(self) -> None:
        """Close the signature database."""
        self._stack.close()
        self._notary = None

    def _open(self) -> Any:
        if self._notary is None:
            notary: Any = self._make_notary()
            if hasattr(notary, "__enter__"):  # nbformat 5.11
                self._stack.enter_context(notary)
            else:
                self._stack.callback(notary.store.close)
            self._notary = notary
        return self._notary


def _signed_content(notebook: ParsedNotebook) -> dict[str, Any]:
    """Return the notebook as Jupyter has it in memory when it signs (nbformat.v4.rwbase).

    Decoded cell by cell: one call for 60 MB would keep all other threads waiting.
    """
    content = cast("dict[str, Any]", json.loads(notebook.head + notebook.tail))
    metadata = cast("dict[str, Any]", content.setdefault("metadata", {}))
    for key in ("orig_nbformat", "orig_nbformat_minor", "signature"):
        metadata.pop(key, None)
    content["cells"] = [_signed_cell(json.loads(cell.text)) for cell in notebook.cells]
    return content


def _signed_cell(cell: dict[str, Any]) -> dict[str, Any]:
    if isinstance(cell.get("source"), list):
        cell["source"] = "".join(cell["source"])
    cell.get("metadata", {}).pop("trusted", None)
    for name, bundle in cell.get("attachments", {}).items():
        cell["attachments"][name] = joined_bundle(bundle)
    if cell.get("cell_type") == "code" and "outputs" in cell:
        cell["outputs"] = [joined_output(output) for output in cell["outputs"]]
    return cell
