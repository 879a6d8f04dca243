"""The chat panel's kernel side: real kernel and server, and a front end without a browser."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing

from jupyter_ai_shoulders.client import Client
from jupyter_ai_shoulders.kernel.panel import bundle
from jupyter_ai_shoulders.wire.events import TurnStart
from jupyter_ai_shoulders.wire.ids import SessionId
from tests.client.conftest import ClientServer
from tests.kernel.headless_frontend import HeadlessFrontend
from tests.simulator_process import says

SHOW = "from jupyter_ai_shoulders import ChatPanel\npanel = ChatPanel()\npanel"
HELLO = {"t": "hello", "view": "v"}


async def test_a_panel_says_where_it_is(place: ClientServer) -> None:
    async with HeadlessFrontend(place, "where.ipynb") as page:
        ran = await page.run(SHOW)
        await page.say(HELLO)
        ready = (await page.wait_for_message(t="ready")).content

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


async def test_the_server_s_answers_come_through(place: ClientServer) -> None:
    async with HeadlessFrontend(place, "http.ipynb") as page:
        await page.run(SHOW)
        made = (await page.request("sessions", "POST", {"kind": "chat"})).content
        session = json.loads(made["body"])
        got = (await page.request(f"sessions/{session['id']}")).content
        missing = (await page.request("sessions/none")).content

    assert (made["status"], got["status"], missing["status"]) == (201, 200, 404)
    assert json.loads(got["body"])["id"] == session["id"]
    assert json.loads(missing["body"])["error"]["code"] == "not_found"


async def test_a_conversation_streams_through_the_socket_and_is_kept(
    place: ClientServer, client: Client
) -> None:
    place.plays(says("Because <b>it</b> rains."))
    session = client.new_session(kind="chat").id
    async with HeadlessFrontend(place, "stream.ipynb") as page:
        ran = await page.run(SHOW)
        await page.set(session_id=session)
        await page.say({"t": "open", "view": "v", "id": "s"})
        await page.wait_for_message(t="opened", id="s")
        hello = {"type": "hello", "client_id": "c", "wire_version": 1, "cursors": {session: 0}}
        await page.say({"t": "send", "view": "v", "id": "s", "text": json.dumps(hello)})
        body: dict[str, object] = {"id": "m1", "text": "Why?", "attachments": []}
        sent = await page.request(f"sessions/{session}/messages", "POST", body)
        while '"turn-end"' not in (await page.wait_for_message(t="frame", id="s")).content["text"]:
            pass
        await page.until(lambda: "rains" in page.panel["transcript"])
        await page.say({"t": "close", "view": "v"})
        closed = await page.wait_for_message(t="closed", id="s")

    assert sent.content["status"] == 202
    assert closed.content["code"] == 1000
    assert "Because &lt;b&gt;it&lt;/b&gt; rains." in page.panel["transcript"]
    assert ran.shown[0].keys() == {"application/vnd.jupyter.widget-view+json", "text/plain"}
    displayed = page.displays[page.panel["transcript_name"]]["text/html"]
    assert displayed.startswith(page.panel["transcript"])


COUNT_CELLS = (
    "import threading\ngo = threading.Event()\nended = []\n"
    "get_ipython().events.register('post_execute', lambda: ended.append(1))"
)


async def test_the_page_is_answered_while_a_cell_runs_and_does_not_disturb_it(
    place: ClientServer,
) -> None:
    async with HeadlessFrontend(place, "busy.ipynb") as page:
        await page.run(SHOW)
        await page.run(COUNT_CELLS)
        await page.say(HELLO)
        await page.wait_for_message(t="ready")
        busy = await page.start(
            "panel.send({'t': 'begun'})\ntry:\n    go.wait()\nfinally:\n    print(len(ended))"
        )
        await page.wait_for_message(t="begun")
        await page.say(HELLO)
        await page.wait_for_message(t="ready")
        answer = await page.request("status")
        still = busy.status
        await page.interrupt()
        await page.until(lambda: busy.status != "")
        after = await page.request("status")

    assert still == ""
    assert busy.error.startswith("KeyboardInterrupt")
    assert busy.text == "1\n"  # the cell that counts; each end draws the figures there are
    assert (answer.content["status"], after.content["status"]) == (200, 200)


def wait_for_turn(client: Client, session: str, number: int) -> None:
    with closing(client.connection.events(SessionId(session), 0)) as events:
        for event in events:
            number -= isinstance(event, TurnStart)
            if number == 0:
                return


async def test_a_question_of_a_cell_is_the_panel_s_and_an_interrupt_stops_it(
    place: ClientServer, client: Client
) -> None:
    place.plays(says("Of course."), says("word " * 400, event_delay=0.05))
    async with HeadlessFrontend(place, "ask.ipynb") as page:
        await page.run(SHOW)
        asked = await page.run("print(panel.ask('May I?'))")
        session = page.panel["session_id"]
        long = await page.start("panel.ask('Count.')")
        await asyncio.to_thread(wait_for_turn, client, session, 2)
        await page.interrupt()
        await page.until(lambda: long.status != "")

    assert asked.text.strip() == "Of course."
    assert long.error.startswith("KeyboardInterrupt")
    log = client.export(session, "jsonl").replace(" ", "")
    assert '"active_document":"ask.ipynb"' in log
    assert '"exit":"cancelled"' in log
    assert "Of course." in page.panel["transcript"]
    assert "Count." in page.panel["transcript"]


async def test_where_there_are_no_subshells_the_page_s_messages_wait_for_the_cell(
    place: ClientServer,
) -> None:
    async with HeadlessFrontend(place, "waits.ipynb", subshells=False) as page:
        await page.run(SHOW)
        busy = await page.start("panel.send({'t': 'begun'})\nimport time; time.sleep(1)")
        await page.wait_for_message(t="begun")
        await page.say(HELLO)
        ready = (await page.wait_for_message(t="ready")).content

    assert busy.status == "ok"
    assert ready["waits"]


async def test_after_a_restart_the_cell_makes_a_panel_that_works(
    place: ClientServer, client: Client
) -> None:
    session = client.new_session(kind="chat").id
    code = f"from jupyter_ai_shoulders import ChatPanel\nChatPanel({session!r})"
    async with HeadlessFrontend(place, "restart.ipynb") as page:
        await page.run(code)
        before = page.panel_id
        await page.restart()
        await page.run(code)
        await page.say(HELLO, before)  # an earlier view of the panel
        await page.say(HELLO | {"view": "w"})
        ready = (await page.wait_for_message(t="ready")).content

    assert ready["view"] == "w"
    assert page.panel["session_id"] == session
    assert "# Conversation" in page.displays[page.panel["transcript_name"]]["text/plain"]


async def test_the_token_is_in_nothing_the_kernel_says(place: ClientServer) -> None:
    place.plays(says("Hello."))
    async with HeadlessFrontend(place, "token.ipynb") as page:
        await page.run(SHOW)
        await page.say(HELLO)
        await page.wait_for_message(t="ready")
        await page.say({"t": "open", "view": "v", "id": "s"})
        await page.wait_for_message(t="opened")
        await page.request("status")
        refused = await page.request("../../api/contents")
        await page.run("print(panel, repr(panel._client), panel.get_state())\npanel.ask('Hi')")

    assert refused.content["status"] == 400
    assert "Hello." in page.panel["transcript"]
    assert place.lab.token not in "".join(page.everything)


async def test_the_page_s_code_is_fetched_by_the_loader(place: ClientServer) -> None:
    built = bundle.STATIC / "panel.js"
    async with HeadlessFrontend(place, "load.ipynb") as page:
        await page.run(SHOW)
        await page.say({"t": "load", "view": "v"})
        code = await page.wait_for_message(t="code")

    assert "t: 'load'" in page.panel["_esm"]
    if built.exists():
        assert code.buffers[0] == built.read_bytes()
    else:
        assert "run `make build`" in code.content["missing"]


async def test_a_page_that_is_loaded_later_is_told_the_transcript_by_an_id_none_has(
    place: ClientServer,
) -> None:
    place.plays(says("Hello."))
    async with HeadlessFrontend(place, "later.ipynb") as page:
        await page.run(f"{SHOW}.ask('Hi')\npanel")
        kept = page.panel["transcript_name"]
        known = set(page.displays)
        await page.say({"t": "load", "view": "v"})
        await page.until(lambda: known < set(page.displays))

    (told,) = set(page.displays) - known
    assert "Hello." in page.displays[kept]["text/html"]
    assert page.displays[told] == page.displays[kept]


async def test_what_is_no_message_is_not_answered_and_does_no_harm(place: ClientServer) -> None:
    async with HeadlessFrontend(place, "odd.ipynb") as page:
        await page.run(SHOW)
        for odd in ({}, {"t": "eval", "view": "v"}, {"t": "http", "view": "v", "id": 1}):
            await page.say(odd)
        await page.say({"t": "send", "view": "v", "id": "none", "text": "x"})
        await page.say(HELLO)
        await page.wait_for_message(t="ready")
        ran = await page.run("panel.close()")

    assert ran.error == ""
