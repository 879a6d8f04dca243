"""The rooms of a real jupyter-collaboration, and notices about similar extensions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pycrdt
import pytest
from jupyter_server.serverapp import ServerApp
from pycrdt import Array, Doc, YMessageType
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect
from traitlets.config import Config

from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import DiskNotebooks
from jupyter_ai_shoulders.notebook.backends.shared.notebooks import SharedNotebooks
from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.server.adapters import collaboration_rooms
from jupyter_ai_shoulders.server.adapters.collaboration_rooms import ServerRooms, document_server
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellSource
from jupyter_ai_shoulders.wire.versions import cell_version
from tests.notebook.backends.shared.fake_room import code, notebook_of

PATH = "n.ipynb"
sync: Any = pycrdt
"""Its functions for the sync protocol have untyped documents."""
A = CellId("a")
Connect = Callable[..., Any]


@pytest.fixture
def jp_server_config(tmp_path: Path) -> Config:
    """Only collaboration, with no automatic saving and rooms that close at once."""
    extensions = {"jupyter_server_ydoc": True, "jupyter_server_fileid": True}
    return Config(
        {
            "ServerApp": {"jpserver_extensions": extensions},
            "SQLiteYStore": {"db_path": str(tmp_path / "ystore.db")},
            "BaseFileIdManager": {"db_path": str(tmp_path / "ids.db")},
            "YDocExtension": {
                "document_save_delay": 1_000,
                "document_cleanup_delay": 1,
                "file_poll_interval": 0,
            },
        }
    )


class Person:
    """A user with the notebook open, through their own socket."""

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self._socket = socket
        self.doc: Doc[Any] = Doc()

    async def source(self, text: str) -> None:
        """Wait until the first cell has this text."""
        async with asyncio.timeout(30):
            while self.cells() is None or str(self.cells()[0]["source"]) != text:
                await self._receive()

    def type(self, text: str) -> None:
        """Type at the end of the first cell."""
        before = self.doc.get_state()
        source = self.cells()[0]["source"]
        source.insert(len(source), text)
        self._send(bytes([0, 2]) + _sized(self.doc.get_update(before)))

    def cells(self) -> Any:
        """The cells received so far."""
        cells = dict(self.doc.items()).get("cells")
        return cells if cells is not None and len(cells) else None

    async def join(self) -> None:
        """Ask for the document."""
        self.doc.get("cells", type=Array)
        self._send(sync.create_sync_message(self.doc))

    async def leave(self) -> None:
        """Close the page."""
        self._socket.close()

    def _send(self, message: bytes) -> None:
        asyncio.ensure_future(self._socket.write_message(message, binary=True))  # noqa: RUF006 ends at once

    async def _receive(self) -> None:
        message = await self._socket.read_message()
        assert isinstance(message, bytes)
        if message[0] == YMessageType.SYNC:
            reply = sync.handle_sync_message(message[1:], self.doc)
            if reply is not None:
                self._send(reply)


def _sized(update: bytes) -> bytes:
    """Length-prefixed as lib0 writes byte arrays."""
    size, prefix = len(update), b""
    while size > 127:
        prefix += bytes([size & 127 | 128])
        size >>= 7
    return prefix + bytes([size]) + update


@pytest.fixture
def join(
    jp_serverapp: ServerApp,
    jp_fetch: Any,
    jp_http_port: int,
    jp_base_url: str,
    jp_auth_header: dict[str, str],
) -> Iterator[Connect]:
    """Opens the notebook as a page does."""
    opened: list[Any] = []

    async def join() -> Person:
        body = json.dumps({"format": "json", "type": "notebook"})
        answer = await jp_fetch("api", "collaboration", "session", PATH, method="PUT", body=body)
        session = json.loads(answer.body)
        # The room's name is not quoted in the address; the fixture for sockets would quote it.
        address = f"ws://127.0.0.1:{jp_http_port}{jp_base_url}api/collaboration/room/"
        address += f"json:notebook:{session['fileId']}?sessionId={session['sessionId']}"
        socket = await websocket_connect(HTTPRequest(address, headers=jp_auth_header))
        person = Person(socket)
        await person.join()
        await person.source("x = 1")
        extension = jp_serverapp.web_app.settings["jupyter_server_ydoc"]
        opened.extend(extension.ywebsocket_server.rooms.values())
        return person

    yield join
    for room in opened:
        room._update_send_stream.close()  # a stopped room leaves it to the garbage collector


@asynccontextmanager
async def shared_documents(
    serverapp: ServerApp, root: Path
) -> AsyncGenerator[tuple[ServerRooms, SharedNotebooks, Workspace]]:
    """The rooms of the server, and the back end over them."""
    cells = (code("a", "x = 1"), code("b", "y = 1"))
    (root / PATH).write_text(json.dumps(notebook_of(*cells)))
    workspace = Workspace(root)
    disk = DiskNotebooks(workspace)
    rooms = ServerRooms(serverapp.web_app.settings)
    yield rooms, SharedNotebooks(workspace, rooms, disk), workspace
    await disk.close()
    workspace.close()


def change(source: str) -> CellSource:
    return CellSource(cell_id=A, source=source)


async def test_the_agent_and_a_person_edit_one_document(
    jp_serverapp: ServerApp, jp_root_dir: Path, join: Connect
):
    async with shared_documents(jp_serverapp, jp_root_dir) as (rooms, shared, workspace):
        assert rooms.available
        name = workspace.path(PATH)
        assert shared.find(name) is None
        person = await join()
        room = shared.find(name)
        assert room is not None
        assert (room.path, room.has_pages, room.is_open) == (PATH, True, True)
        outcome = await shared.apply(name, [change("x = 22")], {A: cell_version("x = 1")})
        assert isinstance(outcome, Applied)
        await person.source("x = 22")
        person.type("  # typed")
        async with asyncio.timeout(30):
            while (await shared.read(name)).cells[0].source != "x = 22  # typed":  # noqa: ASYNC110
                await asyncio.sleep(0.01)  # the server does not acknowledge updates
        assert (await shared.apply(name, [change("lost")], {A: outcome.versions[A]})) != outcome
        taken_back = await shared.apply(name, outcome.inverse, {})
        assert isinstance(taken_back, Applied)
        await person.source("x = 1")


async def test_a_room_that_is_left_is_saved_and_closed(
    jp_serverapp: ServerApp, jp_root_dir: Path, join: Connect
):
    async with shared_documents(jp_serverapp, jp_root_dir) as (_, shared, workspace):
        name = workspace.path(PATH)
        person = await join()
        room = shared.find(name)
        assert room is not None
        await person.leave()
        async with asyncio.timeout(30):
            while room.has_pages:  # noqa: ASYNC110 the server tells nobody who left
                await asyncio.sleep(0.01)
            assert isinstance(await shared.apply(name, [change("x = 2")], {}), Applied)
            saved = json.loads((jp_root_dir / PATH).read_text())["cells"][0]["source"]
            assert "".join(saved) == "x = 2"
            while room.is_open:  # noqa: ASYNC110 as above
                await asyncio.sleep(0.01)
        snapshot = await shared.read(name)
        assert (snapshot.backend, snapshot.cells[0].source) == ("disk", "x = 2")


async def test_a_room_that_does_not_load_is_said(
    jp_serverapp: ServerApp,
    jp_root_dir: Path,
    join: Connect,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(collaboration_rooms, "SETTLE_SECONDS", 0.01)
    async with shared_documents(jp_serverapp, jp_root_dir) as (rooms, shared, workspace):
        await join()
        (room,) = rooms.all()
        loading: Any = room
        async with loading._loading:
            assert not room.is_settled
            with pytest.raises(Conflict, match=r"n\.ipynb is still being loaded"):
                await shared.read(workspace.path(PATH))
        assert (await shared.read(workspace.path(PATH))).backend == "shared"


def test_collaboration_that_is_switched_off_is_not_available():
    extension = SimpleNamespace(disable_rtc=True, ywebsocket_server=None)
    assert not ServerRooms({"jupyter_server_ydoc": extension}).available
    assert not ServerRooms({}).available
    assert ServerRooms({}).all() == ()


def test_what_stands_in_the_place_of_collaboration_is_not_taken_for_it():
    replaced = {"jupyter_server_ydoc": object(), "file_id_manager": object()}
    assert not ServerRooms(replaced).available
    assert ServerRooms(replaced).all() == ()


@pytest.mark.parametrize("name", ["jupyter_server_documents", "jupyter_server_nbmodel"])
def test_extensions_that_keep_or_run_notebooks_are_named(name: str):
    note = document_server({f"{name}_config": {}})
    assert note is not None
    assert name.replace("_", "-") in note
    assert document_server({}) is None
