"""Contents managers that people use instead of plain files."""

import asyncio
import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import nbformat
from jupyter_server.services.contents.filecheckpoints import GenericFileCheckpoints
from jupyter_server.services.contents.filemanager import FileContentsManager
from jupyter_server.services.contents.manager import AsyncContentsManager, ContentsManager
from tornado.web import HTTPError


class PairingManager(FileContentsManager):
    """Keeps a script beside each notebook, as jupytext does; the script's text wins."""

    def save(self, model: Any, path: str = "") -> Any:
        """Write both files."""
        saved: Any = cast("Any", super()).save(model, path)
        sources = [cell["source"] for cell in model["content"]["cells"]]
        assert all(isinstance(source, str) for source in sources)
        self._script(path).write_text("\n# %%\n".join(sources), encoding="utf-8")
        return self._dated(saved, path)

    def get(self, path: str, content: bool = True, **rest: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  the types of the base are inferred
        """Read the cells' texts from the script."""
        model: Any = cast("Any", super()).get(path, content=content, **rest)
        script = self._script(path)
        if content and script.exists():
            texts = script.read_text(encoding="utf-8").split("\n# %%\n")
            for cell, text in zip(model["content"]["cells"], texts, strict=True):
                cell["source"] = text
        return self._dated(model, path)

    def _script(self, path: str) -> Path:
        return Path(self.root_dir, path).with_suffix(".py")

    def _dated(self, model: Any, path: str) -> Any:
        if self._script(path).exists():
            own = datetime.fromtimestamp(self._script(path).stat().st_mtime, UTC)
            model["last_modified"] = max(model["last_modified"], own)
            model["hash"] = None
        return model


class Store:
    """Notebooks in memory, like a remote store."""

    def __init__(self) -> None:
        self.notebooks: dict[str, Any] = {}
        self.times: dict[str, datetime] = {}
        self.saves = 0

    def put(self, path: str, content: Any) -> None:
        """Store a notebook."""
        self.saves += 1
        self.notebooks[path] = copy.deepcopy(content)
        self.times[path] = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.saves)

    def model(self, path: str, *, content: bool) -> Any:
        """Return a contents model."""
        if path not in self.notebooks:
            raise HTTPError(404, "no notebook %s in the store", path)
        whole: Any = cast("Any", nbformat).from_dict(self.notebooks[path]) if content else None
        return {
            "name": path,
            "path": path,
            "type": "notebook",
            "format": "json" if content else None,
            "content": whole,
            "last_modified": self.times[path],
            "created": self.times[path],
            "writable": True,
            "mimetype": None,
        }


class MemoryManager(ContentsManager):
    """Synchronous; without hashes, like managers older than 2.11."""

    checkpoints_class = GenericFileCheckpoints

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store

    def get(  # pyright: ignore[reportIncompatibleMethodOverride]  as it was before 2.11
        self,
        path: str,
        content: bool = True,
        type: Any = None,  # noqa: A002  the server's own names
        format: Any = None,  # noqa: A002
    ) -> Any:
        """Return a notebook."""
        return self.store.model(path, content=content)

    def save(self, model: Any, path: str) -> Any:
        """Store a notebook."""
        self.run_pre_save_hooks(model=model, path=path)
        self.store.put(path, model["content"])
        return self.store.model(path, content=False)


class WaitingManager(AsyncContentsManager):
    """Asynchronous; calls ``between`` right before the next save."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store
        self.after_get: Callable[[], None] | None = None

    async def get(
        self,
        path: str,
        content: bool = True,
        type: Any = None,  # noqa: A002  the server's own names
        format: Any = None,  # noqa: A002
        require_hash: bool = False,
    ) -> Any:
        """Return a notebook after a pause."""
        await asyncio.sleep(0)
        model = self.store.model(path, content=content)
        if content and self.after_get is not None:
            meddle, self.after_get = self.after_get, None
            meddle()
        return model

    async def save(self, model: Any, path: str) -> Any:
        """Store a notebook after a pause."""
        await asyncio.sleep(0)
        self.store.put(path, json.loads(json.dumps(model["content"])))
        return self.store.model(path, content=False)
