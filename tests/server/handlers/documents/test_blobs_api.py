"""``GET blobs/{hash}``: content that conversations name, in parts."""

from __future__ import annotations

import pytest
from jupyter_server.serverapp import ServerApp

from jupyter_ai_shoulders.server.handlers.blobs import SIZE_HEADER, BlobQuery, part_of
from jupyter_ai_shoulders.wire.events import ContextAdd
from jupyter_ai_shoulders.wire.ids import SessionId
from tests.server.client import Api
from tests.server.handlers.documents.test_proposals_api import host_of
from tests.simulator import Simulator

TEXT = "Grüße 🙂\n" * 3
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


async def stored(app: ServerApp, session_id: str, content: bytes) -> str:
    """Store content that a conversation names; return its hash."""
    host = await host_of(app)
    blob = host.blobs.put(content)
    host.log.append(SessionId(session_id), ContextAdd(role="meta", source="test", blob=blob))
    return blob


async def test_text_comes_in_parts_of_whole_characters(api: Api, jp_serverapp: ServerApp) -> None:
    blob = await stored(jp_serverapp, await api.new_session(), TEXT.encode())
    got = b""

    while len(got) < len(TEXT.encode()):
        part = await api.download(f"blobs/{blob}?offset={len(got)}&limit=9")
        assert 0 < len(part.content.decode().encode()) <= 9
        assert part.headers[SIZE_HEADER] == str(len(TEXT.encode()))
        got += part.content

    assert got.decode() == TEXT


async def test_what_is_served_can_do_nothing(api: Api, jp_serverapp: ServerApp) -> None:
    session_id = await api.new_session()
    page = await api.download(f"blobs/{await stored(jp_serverapp, session_id, b'<script>')}")
    picture = await api.download(f"blobs/{await stored(jp_serverapp, session_id, PNG)}?limit=4")

    assert page.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert page.headers["Content-Security-Policy"].startswith("sandbox")
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert page.headers["Content-Disposition"].startswith("attachment")
    assert (picture.headers["Content-Type"], picture.content) == ("image/png", PNG)


async def test_only_what_a_conversation_names_is_served(api: Api, jp_serverapp: ServerApp) -> None:
    session_id = await api.new_session()
    named = await stored(jp_serverapp, session_id, b"named")
    host = await host_of(jp_serverapp)
    unnamed = host.blobs.put(b"unnamed")

    assert (await api.download(f"blobs/{named}")).content == b"named"
    for other in (unnamed, "0" * 64, "x", "..%2Fstate.db"):
        assert (await api.download(f"blobs/{other}")).status_code == 404, other
    await api.delete(f"sessions/{session_id}")
    assert (await api.download(f"blobs/{named}")).status_code == 404


async def test_a_hash_in_a_message_opens_nothing(
    api: Api, jp_serverapp: ServerApp, upstream: Simulator
) -> None:
    host = await host_of(jp_serverapp)
    unnamed = host.blobs.put(b"somebody's output")
    upstream.script("A hash.")

    await api.run(await api.new_session(), unnamed)

    assert (await api.download(f"blobs/{unnamed}")).status_code == 404


async def test_a_picture_that_is_attached_by_its_hash_opens_nothing(
    api: Api, jp_serverapp: ServerApp, upstream: Simulator
) -> None:
    host = await host_of(jp_serverapp)
    unnamed = host.blobs.put(PNG)
    upstream.script("A picture.")
    session_id = await api.new_session()
    picture = {"kind": "image", "media_type": "image/png", "data": None, "blob": unnamed}
    message = {"id": "m", "text": "What is it?", "attachments": [picture]}

    async with api.stream(session_id) as stream:
        sent = await api.post(f"sessions/{session_id}/messages", message)
        if sent.status == 202:
            await stream.until("turn-end")

    assert (await api.download(f"blobs/{unnamed}")).status_code == 404
    assert all("base64" not in str(request.body) for request in upstream.requests)


@pytest.mark.parametrize("wrong", ["offset=-1", "limit=0", "limit=99999999"])
async def test_a_part_that_makes_no_sense_is_refused(
    api: Api, jp_serverapp: ServerApp, wrong: str
) -> None:
    blob = await stored(jp_serverapp, await api.new_session(), b"x")

    assert (await api.download(f"blobs/{blob}?{wrong}")).status_code == 400


def test_bytes_that_are_no_text_come_on_all_the_same() -> None:
    content = b"\x80" * 20

    assert part_of(content, BlobQuery(offset=0, limit=4))
    assert part_of(content, BlobQuery(offset=20, limit=4)) == b""
