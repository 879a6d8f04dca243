"""Decides who writes the index of a state directory, and whether an index may be believed.

Implements ``retrieval.ports.IndexOwnership``; made by ``host.search.workspace_search``. An index
that came with a cloned folder could show texts that no document has, so it is never opened.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.retrieval.index_file import IndexFile
from jupyter_ai_shoulders.storage.process_lock import ProcessLock
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_origin import StateOrigin


class StateDirectoryIndex:
    """The ownership of the index in one state directory."""

    def __init__(self, directory: StateDirectory, origin: StateOrigin, file: IndexFile) -> None:
        self._directory = directory
        self._origin = origin
        self._file = file
        self._lock = ProcessLock(file.path.with_name("lock"))

    def acquire(self) -> None:
        """See ``IndexOwnership.acquire``."""
        self._directory.prepare()
        self._file.path.parent.mkdir(mode=0o700, exist_ok=True)
        try:
            self._lock.acquire()
        except StateUnavailable as error:
            raise StateUnavailable(
                "Another Jupyter server keeps the search index of this folder up to date; "
                "this one only reads it.",
                hint="Use that server to change the index.",
            ) from error
        if not self._origin.is_known():
            self._file.delete()
            if self._origin.is_own():  # otherwise the start of the host decides
                self._origin.claim()

    def is_trusted(self) -> bool:
        """See ``IndexOwnership.is_trusted``."""
        return self._origin.is_known()

    def release(self) -> None:
        """See ``IndexOwnership.release``."""
        self._lock.release()
