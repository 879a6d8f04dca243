"""An editor at a running server: it is asked for files, also after its connection broke."""

from __future__ import annotations

import asyncio
from queue import Queue
from typing import Any

from jupyter_ai_shoulders.cli.chat.editor_socket import EditorSocket
from jupyter_ai_shoulders.client import Client
from jupyter_ai_shoulders.wire.api.commands import SendMessage
from jupyter_ai_shoulders.wire.api.responses import MessageAccepted
from jupyter_ai_shoulders.wire.frames import ServerFrame, TextContent, TextEditor, TextRead
from jupyter_ai_shoulders.wire.ids import ClientId, MessageId
from jupyter_ai_shoulders.wire.messages import FileAttachment
from tests.cli.conftest import Terminal
from tests.providers.faulty_servers import until
from tests.simulator_process import says

EDITOR = ClientId("editor_socket")


def asked_for(client: Client, requests: Queue[ServerFrame], editor: EditorSocket) -> str:
    """Send a message with a linked file from the editor; return what the editor is asked for."""
    session = client.new_session().id
    message = SendMessage(
        id=MessageId(f"msg_{session}"),
        text="Look.",
        attachments=(FileAttachment(kind="file", path="socket.txt"),),
        client_id=EDITOR,
    )
    client.connection.post(f"sessions/{session}/messages", message, MessageAccepted)
    frame = requests.get(timeout=20)
    assert isinstance(frame, TextRead)
    given: dict[str, Any] = {"operation_id": frame.operation_id, "path": frame.path}
    editor.send(TextContent(**given, text="unsaved", dirty=True))
    return frame.path


async def test_an_editor_is_asked_again_after_its_connection_broke(
    attached: Terminal, client: Client
) -> None:
    (attached.root / "socket.txt").write_text("saved")
    attached.plays(says("Seen."), says("Seen."))
    requests: Queue[ServerFrame] = Queue()
    announced = TextEditor(folder="", answering=False)
    editor = await asyncio.to_thread(
        EditorSocket, client.connection, EDITOR, announced, requests.put
    )
    try:
        assert await asyncio.to_thread(asked_for, client, requests, editor) == "socket.txt"
        first = editor._socket  # pyright: ignore[reportPrivateUsage] the network breaks it
        first.shutdown()
        await until(lambda: editor._socket is not first)  # pyright: ignore[reportPrivateUsage]
        assert await asyncio.to_thread(editor.wait)
        assert await asyncio.to_thread(asked_for, client, requests, editor) == "socket.txt"
    finally:
        await asyncio.to_thread(editor.close)
