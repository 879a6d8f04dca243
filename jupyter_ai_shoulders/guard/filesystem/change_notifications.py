"""Notifications of the operating system about changes below the workspace.

Used by ``host.automation.watchers`` as hints of when to look; what changed is found by comparing
snapshots. Each folder is watched by itself: a recursive watch would follow links out of the
workspace and use up the system's watches for ignored folders.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

STEP_SECONDS = 0.2
"""Between two looks at what the system reported."""
_MOST_STEPS = 5
"""Of one burst, before it is reported."""
_TIMEOUT_MS = 3_600_000


class WatchFailed(Exception):
    """The system reports no changes here; the text is its reason."""

    def __init__(self, reason: str, *, is_limit: bool = False, is_gone: bool = False) -> None:
        super().__init__(reason)
        self.is_limit = is_limit
        """Whether the system's watches are used up."""
        self.is_gone = is_gone
        """Whether a folder does not exist any more."""


class FolderNotifications:
    """One watch of a list of folders; another list needs another watch."""

    def __init__(self, root: Path, folders: Collection[str], step: float = STEP_SECONDS) -> None:
        """``folders`` are workspace paths, empty for the root."""
        self._root = root
        self._paths = [str(root / folder) for folder in sorted(folders)]
        self._step_ms = max(1, round(step * 1000))
        self._stop = threading.Event()

    async def changes(self) -> AsyncGenerator[frozenset[str]]:
        """Yield workspace paths that may have changed; first nothing, once it listens.

        Raises ``WatchFailed``. Close the generator to end the watch.
        """
        from watchfiles._rust_notify import RustNotify

        loop = asyncio.get_running_loop()
        executor = ThreadPoolExecutor(1, thread_name_prefix="shoulders-watch")
        try:
            watch = await loop.run_in_executor(
                executor, lambda: RustNotify(self._paths, False, False, 300, False, True)
            )
            yield frozenset()
            steps = self._step_ms * _MOST_STEPS, self._step_ms, _TIMEOUT_MS
            while True:
                found = await loop.run_in_executor(executor, watch.watch, *steps, self._stop)
                if isinstance(found, set):
                    yield frozenset(filter(None, (self._relative(text) for _, text in found)))
                elif found != "timeout":
                    return
        except OSError as error:
            raise _failed(error) from error
        except RuntimeError as error:  # a name that is not text, which the library cannot report
            raise WatchFailed(str(error)) from error
        finally:
            self._stop.set()
            executor.shutdown(wait=False)

    def _relative(self, text: str) -> str | None:
        try:
            return Path(text).relative_to(self._root).as_posix()
        except ValueError:
            return None


def _failed(error: OSError) -> WatchFailed:
    text = str(error)
    is_limit = "limit" in text or "No space left" in text or "os error 28" in text
    return WatchFailed(text, is_limit=is_limit, is_gone=isinstance(error, FileNotFoundError))
