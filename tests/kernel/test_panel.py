"""The chat panel's kernel half: a real kernel and server, and a front end without a browser."""

from __future__ import annotations

import json

from jupyter_ai_shoulders.client import Client
from tests.client.conftest import Place
from tests.kernel.front_end import FrontEnd
from tests.upstream import says

SHOW = "from jupyter_ai_shoulders import ChatPanel\npanel = ChatPanel()\npanel"
HELLO = {"t": "hello", "view": "v"}


async def test_a_panel_says_where_it_is(place: Place) -> None:
    async with FrontEnd(place, "where.ipynb") as page:
        ran = await page.run(SHOW)
        await page.say(HELLO)
        ready = (await page.hears(t="ready")).content

    assert ran.error == ""
    assert ready == {
        "t": "ready",
        "view": "v",
        "server": True,
        "notebook": "where.ipynb",
        "version": ready["version"],
        "waits": False,
    }
    assert page.panel["notebook"] == "where.ipynb"


async def test_the_server_s_answers_come_through(place: Place) -> None:
    async with FrontEnd(place, "http.ipynb") as page:
        await page.run(SHOW)
        made = (await page.request("sessions", "POST", {"kind": "chat"})).content
        session = json.loads(made["body"])
        got = (await page.request(f"sessions/{session['id']}")).content
        missing = (await page.request("sessions/none")).content

    assert (made["status"], got["status"], missing["status"]) == (201, 200, 404)
    assert json.loads(got["body"])["id"] == session["id"]
    assert json.loads(missing["body"])["error"]["code"] == "not_found"


async def test_a_conversation_streams_through_the_socket_and_is_kept(
    place: Place, client: Client
) -> None:
    place.plays(says("Because <b>it</b> rains."))
    session = client.new_session(kind="chat").id
    async with FrontEnd(place, "stream.ipynb") as page:
        ran = await page.run(SHOW)
        await page.set(session_id=session)
        await page.say({"t": "open", "view": "v", "id": "s"})
        await page.hears(t="opened", id="s")
        hello = {"type": "hello", "client_id": "c", "wire_version": 1, "cursors": {session: 0}}
        await page.say({"t": "send", "view": "v", "id": "s", "text": json.dumps(hello)})
        body: dict[str, object] = {"id": "m1", "text": "Why?", "attachments": []}
        sent = await page.request(f"sessions/{session}/messages", "POST", body)
        while '"turn-end"' not in (await page.hears(t="frame", id="s")).content["text"]:
            pass
        await page.until(lambda: "rains" in page.panel["transcript"])
        await page.say({"t": "close", "view": "v"})
        closed = await page.hears(t="closed", id="s")

    assert sent.content["status"] == 202
    assert closed.content["code"] == 1000
    assert "Because &lt;b&gt;it&lt;/b&gt; rains." in page.panel["transcript"]
    assert ran.shown[0].keys() == {"application/vnd.jupyter.widget-view+json", "text/plain"}
    assert page.displays[page.panel["transcript_name"]]["text/html"] == page.panel["transcript"]


async def test_the_page_is_answered_while_a_cell_runs(place: Place) -> None:
    async with FrontEnd(place, "busy.ipynb") as page:
        await page.run(SHOW)
        await page.say(HELLO)
        await page.hears(t="ready")
        busy = await page.start("import threading; go = threading.Event()\ngo.wait(60)")
        await page.say(HELLO)
        await page.hears(t="ready")
        answer = await page.request("status")
        still = busy.status
        await page.interrupt()
        await page.until(lambda: busy.status != "")
        after = await page.request("status")

    assert still == ""
    assert busy.error.startswith("KeyboardInterrupt")
    assert (answer.content["status"], after.content["status"]) == (200, 200)
