"""Runs code in kernels: those of a server, as a page does, and those of ``nbclient``."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import aiohttp

from tests.support.lab_server import Lab

SECONDS = 60.0


@dataclass
class Ran:
    """The result of a cell."""

    status: str = ""
    text: str = ""
    """Its printed text."""
    error: str = ""
    shown: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """The final data of its displays."""
    payload: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    traceback: list[str] = field(default_factory=list[str])
    updates: int = 0
    """How often a display changed."""
    asked: list[str] = field(default_factory=list[str])


class Channels:
    """A notebook's kernel and the socket to it; ``async with`` starts and ends both."""

    def __init__(self, lab: Lab, path: str) -> None:
        self._lab = lab
        self._path = path
        self.id = ""

    async def __aenter__(self) -> Self:
        self._http = aiohttp.ClientSession(headers={"Authorization": f"token {self._lab.token}"})
        return await self._begin()

    async def _begin(self) -> Self:
        """Start the kernel."""
        body = {
            "path": self._path,
            "name": self._path,
            "type": "notebook",
            "kernel": {"name": "python3"},
        }
        async with self._http.post(self._url("api/sessions"), json=body) as answer:
            made = await answer.json()
            self._session, self.id = made["id"], made["kernel"]["id"]
        self._socket = await self._http.ws_connect(
            self._url(f"api/kernels/{self.id}/channels"), max_msg_size=0
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._socket.close()
        await self._http.delete(self._url(f"api/sessions/{self._session}"))
        await self._http.close()

    async def restart(self) -> None:
        """Restart the kernel, as the menu does."""
        await self._http.post(self._url(f"api/kernels/{self.id}/restart"))

    async def interrupt(self) -> None:
        """Interrupt the kernel, as the button does."""
        await self._http.post(self._url(f"api/kernels/{self.id}/interrupt"))

    async def _say(
        self, channel: str, kind: str, content: Mapping[str, Any], subshell: str | None = None
    ) -> str:
        message_id = uuid.uuid4().hex
        header = {
            "msg_id": message_id,
            "msg_type": kind,
            "session": "test",
            "username": "test",
            "version": "5.3",
            "date": "2026-11-22T08:00:00Z",
            **({} if subshell is None else {"subshell_id": subshell}),
        }
        await self._socket.send_json(
            {
                "channel": channel,
                "header": header,
                "parent_header": {},
                "metadata": {},
                "content": content,
                "buffers": [],
            }
        )
        return message_id

    def _url(self, path: str) -> str:
        return f"http://127.0.0.1:{self._lab.port}{self._lab.base_url}{path}"


class ServerKernel(Channels):
    """A kernel that a server started for a notebook, in which cells run one after another."""

    async def run(self, code: str, answer: str | None = None, *, interrupt_at: str = "") -> Ran:
        """Run a cell. ``answer`` is typed when it asks; it is interrupted once it shows
        ``interrupt_at``.
        """
        sent = await self._say(
            "shell",
            "execute_request",
            {
                "code": code,
                "silent": False,
                "store_history": True,
                "user_expressions": {},
                "allow_stdin": answer is not None,
                "stop_on_error": True,
            },
        )
        ran, displays = Ran(), dict[str, dict[str, Any]]()
        idle = False
        async with asyncio.timeout(SECONDS):
            while not (idle and ran.status):
                said = await self._socket.receive_json()
                if said["parent_header"].get("msg_id") != sent:
                    continue
                kind, content = said["header"]["msg_type"], said["content"]
                idle = idle or (kind == "status" and content["execution_state"] == "idle")
                if kind == "input_request":
                    ran.asked.append(content["prompt"])
                    value = answer or ""
                    await self._say("stdin", "input_reply", {"status": "ok", "value": value})
                note(ran, displays, kind, content)
                if interrupt_at and interrupt_at in json.dumps(content):
                    interrupt_at = ""
                    await self.interrupt()
        return ran


def note(ran: Ran, displays: dict[str, dict[str, Any]], kind: str, content: Any) -> None:
    """Record one message of a kernel."""
    match kind:
        case "stream":
            ran.text += content["text"]
        case "error":
            ran.error = f"{content['ename']}: {content['evalue']}"
            ran.traceback = content["traceback"]
        case "display_data" | "execute_result":
            data = dict(content["data"])
            ran.shown.append(data)
            if name := content.get("transient", {}).get("display_id"):
                displays[name] = data
        case "update_display_data":
            shown = displays[content["transient"]["display_id"]]
            ran.updates += 1
            shown.clear()
            shown.update(content["data"])
        case "execute_reply":
            ran.status = content["status"]
            ran.payload = content.get("payload", [])
        case _:
            pass
