"""A front end for widgets without a browser: comms over a subshell, displays, cells.

It does what JupyterLab 4.6 does with them (``@jupyterlab/services``, ``kernel/comm``).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import aiohttp
from jupyter_server.services.kernels.connection import base

from tests.client.conftest import ClientServer
from tests.client.kernels import SECONDS, Channels, Ran, note

_deserialize: Callable[[bytes], Any] = getattr(base, "deserialize_binary_message")  # noqa: B009 - it has no types


@dataclass
class WidgetMessage:
    """A custom message of a widget."""

    content: dict[str, Any]
    buffers: list[bytes]


class HeadlessFrontend(Channels):
    """A page with one notebook."""

    def __init__(self, place: ClientServer, path: str, *, subshells: bool = True) -> None:
        super().__init__(place.lab, path)
        self.states: dict[str, dict[str, Any]] = {}
        """States of the widgets, by their ids."""
        self.everything: list[str] = []
        """All messages of the kernel, in order."""
        self.displays: dict[str, dict[str, Any]] = {}
        self._subshells = subshells
        self._subshell: str | None = None
        self._heard: list[WidgetMessage] = []
        self._cells: dict[str, Ran] = {}
        self._ends: dict[str, dict[str, Any]] = {}
        self._idle: set[str] = set()
        self._replies: dict[str, dict[str, Any]] = {}
        self._news = asyncio.Condition()

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._reading = asyncio.create_task(self._read())
        await self._new_subshell()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading
        await super().__aexit__(*_)

    async def restart(self) -> None:
        """Restart the kernel; its widgets are gone."""
        await super().restart()
        self.states.clear()
        await self._answers()
        await self._new_subshell()

    async def _answers(self) -> None:
        """Wait until the kernel runs cells; a starting kernel may lose requests."""
        asked: list[Ran] = []
        async with asyncio.timeout(SECONDS):
            while not any(ran.status for ran in asked):
                asked.append(await self.start(""))
                with suppress(TimeoutError):
                    await self.until(lambda: any(ran.status for ran in asked), 5)

    async def _new_subshell(self) -> None:
        """Send comm messages to a subshell; a starting kernel may lose requests."""
        self._subshell = None
        asked: list[str] = []
        async with asyncio.timeout(SECONDS):
            while self._subshells and self._subshell is None:
                asked.append(await self._say("control", "create_subshell_request", {}))
                with suppress(TimeoutError):
                    await self.until(lambda: any(each in self._replies for each in asked), 5)
                for each in asked:
                    self._subshell = self._replies.get(each, {}).get("subshell_id", self._subshell)

    async def start(self, code: str) -> Ran:
        """Start a cell and return its result, which is filled later."""
        ran = Ran()
        sent = await self._say(
            "shell",
            "execute_request",
            {
                "code": code,
                "silent": False,
                "store_history": True,
                "user_expressions": {},
                "allow_stdin": False,
                "stop_on_error": True,
            },
        )
        self._cells[sent] = ran
        return ran

    async def run(self, code: str) -> Ran:
        """Run a cell to its end."""
        ran = await self.start(code)
        await self.until(lambda: ran.status != "")
        return ran

    async def until(self, happened: Callable[[], bool], seconds: float = SECONDS) -> None:
        """Wait until ``happened`` is true. Raises ``TimeoutError``."""
        async with asyncio.timeout(seconds), self._news:
            await self._news.wait_for(happened)

    @property
    def panel_id(self) -> str:
        """Id of the only panel."""
        (found,) = (name for name, state in self.states.items() if "transcript_name" in state)
        return found

    @property
    def panel(self) -> dict[str, Any]:
        """State of the only panel."""
        return self.states[self.panel_id]

    async def say(self, content: Mapping[str, Any], panel: str | None = None) -> None:
        """Send a custom message to the panel."""
        data = {"method": "custom", "content": content}
        await self._comm(panel or self.panel_id, data)

    async def set(self, **state: object) -> None:
        """Change the panel's state."""
        await self._comm(self.panel_id, {"method": "update", "state": state, "buffer_paths": []})

    async def wait_for_message(self, **wanted: object) -> WidgetMessage:
        """Wait for a custom message with these fields, and remove it."""
        found: list[WidgetMessage] = []

        def is_there() -> bool:
            fits = (each for each in self._heard if wanted.items() <= each.content.items())
            found.extend(list(fits)[:1])
            return bool(found)

        await self.until(is_there)
        self._heard.remove(found[0])
        return found[0]

    async def request(
        self, path: str, method: str = "GET", body: Any = None, view: str = "v"
    ) -> WidgetMessage:
        """Send an HTTP request through the kernel and return the answer."""
        name = f"{method} {path} {len(self.everything)}"
        await self.say(
            {"t": "http", "view": view, "id": name, "method": method, "path": path, "body": body}
        )
        return await self.wait_for_message(t="http", id=name)

    def _end(self, cell: str) -> None:
        """Mark a cell as ended once its reply and all of its output have arrived."""
        if cell in self._idle and cell in self._ends:
            note(self._cells[cell], self.displays, "execute_reply", self._ends[cell])

    async def _comm(self, comm_id: str, data: Mapping[str, Any]) -> None:
        content = {"comm_id": comm_id, "data": data}
        await self._say("shell", "comm_msg", content, self._subshell)

    async def _read(self) -> None:
        async for frame in self._socket:
            if frame.type is aiohttp.WSMsgType.BINARY:
                message = _deserialize(frame.data)
            else:
                message = json.loads(frame.data)
            async with self._news:
                self.everything.append(json.dumps(message, default=repr))
                self._take(message)
                self._news.notify_all()

    def _take(self, message: Any) -> None:
        kind, content = message["header"]["msg_type"], message["content"]
        parent = message["parent_header"].get("msg_id")
        match kind:
            case "comm_open":
                self.states[content["comm_id"]] = dict(content["data"]["state"])
            case "comm_msg" if content["data"]["method"] == "update":
                self.states[content["comm_id"]].update(content["data"]["state"])
            case "comm_msg" if content["data"]["method"] == "custom":
                buffers = [bytes(each) for each in message["buffers"]]
                self._heard.append(WidgetMessage(content["data"]["content"], buffers))
            case "update_display_data":
                self.displays[content["transient"]["display_id"]] = content["data"]
            case _ if kind.endswith("_reply") and kind != "execute_reply":
                self._replies[parent] = content
            case "execute_reply" if parent in self._cells:
                self._ends[parent] = content
                self._end(parent)
            case "status" if parent in self._cells:
                self._idle.update({parent} if content["execution_state"] == "idle" else ())
                self._end(parent)
            case _ if parent in self._cells:
                note(self._cells[parent], self.displays, kind, content)
            case _:
                pass
