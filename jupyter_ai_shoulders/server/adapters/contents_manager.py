"""The server's contents manager, for ``notebook.backends.disk.contents_manager``.

Used by ``server.extension_services``. Managers may be synchronous or asynchronous, as in Jupyter's
own handlers.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, cast

from jupyter_server.serverapp import ServerApp
from jupyter_server.services.contents.filemanager import (
    AsyncFileContentsManager,
    FileContentsManager,
)
from jupyter_server.services.contents.largefilemanager import (
    AsyncLargeFileManager,
    LargeFileManager,
)
from tornado.web import HTTPError

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidNotebook,
    NotFound,
    PolicyRefusal,
    ShouldersError,
    StateUnavailable,
)
from jupyter_ai_shoulders.wire.base import JsonObject

_PLAIN = frozenset(
    {AsyncFileContentsManager, AsyncLargeFileManager, FileContentsManager, LargeFileManager}
)
"""Managers that store a notebook in a file of its name; subclasses may do more."""
_HOOKS = ("pre_save_hook", "post_save_hook", "_pre_save_hooks", "_post_save_hooks")
"""Configured, and registered by extensions (jupyter_server.services.contents.manager)."""


class ServerContents:
    """The server's current contents manager, looked up for each call: extensions replace it."""

    def __init__(self, serverapp: ServerApp) -> None:
        self._serverapp = serverapp

    @property
    def is_plain(self) -> bool:
        """Return whether a notebook is a workspace file, and saving writes only that file."""
        manager = self._manager
        if type(manager) not in _PLAIN or any(getattr(manager, hook, None) for hook in _HOOKS):
            return False
        ours, theirs = self._serverapp.root_dir, manager.root_dir
        # Asked at each read and edit: following the links of both takes longer than the read.
        return ours == theirs or Path(ours).resolve() == Path(theirs).resolve()

    async def stamp(self, path: str) -> str:
        """Return the time of the last save and, if the manager knows it, a hash."""
        try:
            model = await self._asked(path, content=False, require_hash=True)
        except TypeError:  # a manager older than 2.11, or derived from one
            model = await self._asked(path, content=False)
        return f"{model.get('last_modified')} {model.get('hash')}"

    async def get(self, path: str) -> JsonObject:
        """Return the notebook as Jupyter has it in memory."""
        model = await self._asked(path, content=True)
        return cast("JsonObject", model["content"])

    async def save(self, path: str, content: JsonObject) -> None:
        """Save the whole notebook, as a page does."""
        model = {"type": "notebook", "format": "json", "content": content}
        try:
            await _answer(self._manager.save(model, path))
        except HTTPError as error:
            raise _problem(error, path, "saved") from error

    async def _asked(self, path: str, **options: bool) -> dict[str, Any]:
        try:
            return await _answer(self._manager.get(path, type="notebook", **options))
        except HTTPError as error:
            raise _problem(error, path, "read") from error

    @property
    def _manager(self) -> Any:
        return cast("Any", self._serverapp.contents_manager)


async def _answer(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _problem(error: HTTPError, path: str, act: str) -> ShouldersError:
    """Return the error that a contents manager's refusal means."""
    reason = error.log_message or error.reason or f"status {error.status_code}"
    if error.log_message and error.args:
        reason = error.log_message % error.args
    match error.status_code:
        case 404:
            return NotFound(
                f"There is no notebook {path}.", hint="List the files to find its name."
            )
        case 400:
            return InvalidNotebook(
                f"{path} is not a valid notebook: {reason}. Nothing was changed.",
                hint="Repair the file in a text editor, or restore an earlier version.",
            )
        case 403:
            return PolicyRefusal(
                f"The contents manager does not let {path} be {act}: {reason}.", code="forbidden"
            )
        case 409:
            return Conflict(
                f"{path} was changed by someone else: {reason}.",
                hint="Read it again.",
                retryable=True,
            )
        case _:
            return StateUnavailable(
                f"The contents manager could not {'read' if act == 'read' else 'save'} {path}: "
                f"{reason}.",
                hint="See the server's log.",
                retryable=True,
            )
