"""The magics in kernels that a real server started, through the messages a page sends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from jupyter_ai_shoulders.client import Client
from jupyter_ai_shoulders.client.errors import TurnFailed
from tests.client.conftest import ClientServer
from tests.client.kernels import ServerKernel
from tests.simulator_process import calls, notebook, says, texts

LOAD = "%load_ext jupyter_ai_shoulders"
REPLY = "Because of $x$."
INTERRUPT_AS_THE_SERVER_TAKES_IT = """
import os, signal
from jupyter_ai_shoulders.client.connection import Connection
from jupyter_ai_shoulders.wire.api.commands import SendMessage

send = Connection.post

def post(self, path, body, model):
    taken = send(self, path, body, model)
    if isinstance(body, SendMessage):
        os.kill(os.getpid(), signal.SIGINT)
    return taken

Connection.post = post
"""


@asynccontextmanager
async def loaded(place: ClientServer, name: str) -> AsyncGenerator[ServerKernel]:
    async with ServerKernel(place.lab, name) as kernel:
        assert (await kernel.run(LOAD)).error == ""
        yield kernel


def last_prompt(place: ClientServer) -> str:
    """The last prompt the model received."""
    content = place.upstream.requests()[-1]["body"]["messages"][-1]["content"]
    return content if isinstance(content, str) else "\n".join(p.get("text", "") for p in content)


async def test_an_answer_is_shown_as_markdown_and_is_in_the_side_panel(
    place: ClientServer, client: Client
) -> None:
    place.plays(says(REPLY), says("Still."))
    async with loaded(place, "ask.ipynb") as kernel:
        first = await kernel.run("%%ai\nWhy?\nReally?")
        second = await kernel.run("%ai And now?")

    assert second.error == ""
    assert (first.error, first.shown) == ("", [{"text/markdown": REPLY, "text/plain": REPLY}])
    session = client.list(kind="kernel")[0]
    assert (session.source, session.message_count) == ("kernel", 2)
    assert "> Why?\n> Really?" in client.export(session.id)


async def test_an_answer_streams_into_the_cell(place: ClientServer) -> None:
    place.plays(says("word " * 30, event_delay=0.05))
    async with ServerKernel(place.lab, "stream.ipynb") as kernel:
        await kernel.run(LOAD)
        ran = await kernel.run("%ai Count.")

    assert ran.updates > 1
    assert ran.shown[0]["text/plain"].split() == ["word"] * 30


async def test_an_interrupt_cancels_the_turn(place: ClientServer, client: Client) -> None:
    place.plays(says("word " * 400, event_delay=0.05), says("Free again."))
    async with loaded(place, "stop.ipynb") as kernel:
        stopped = await kernel.run("%ai Count.", interrupt_at="word")
        after = await kernel.run("%ai -n Hi")

    assert stopped.error.startswith("KeyboardInterrupt")
    assert "Stopped." in stopped.text
    assert after.shown[0]["text/plain"] == "Free again."
    sessions = client.list(kind="kernel")
    assert [session.status for session in sessions[:2]] == ["idle", "idle"]
    assert '"exit":"cancelled"' in client.export(sessions[1].id, "jsonl").replace(" ", "")


async def test_an_interrupt_before_the_turn_is_followed_cancels_it_too(
    place: ClientServer, client: Client
) -> None:
    place.plays(says("word " * 50, ending="stall", ending_after=20))
    async with loaded(place, "early.ipynb") as kernel:
        await kernel.run(INTERRUPT_AS_THE_SERVER_TAKES_IT)
        stopped = await kernel.run("%ai Count.")
        with pytest.raises(TurnFailed, match="cancelled"):
            client.follow(client.list(kind="kernel")[0].id).answer()
        place.plays(says("Free again."))
        after = await kernel.run("Connection.post = send\n%ai -n Hi")

    assert stopped.error.startswith("KeyboardInterrupt")
    assert "Stopped." in stopped.text
    assert after.shown[0]["text/plain"] == "Free again."


async def test_the_last_error_is_fixed_in_a_new_cell(place: ClientServer) -> None:
    place.plays(says("It was zero.\n\n```python\nprint(1 / 2)\n```"))
    async with loaded(place, "fix.ipynb") as kernel:
        await kernel.run("half = 1 / 0  # mine")
        ran = await kernel.run("%ai fix keep it short")

    asked = last_prompt(place)
    assert ran.error == ""
    assert "half = 1 / 0  # mine" in asked
    assert "ZeroDivisionError: division by zero" in asked
    assert "keep it short" in asked
    assert "IPython/core" not in asked
    assert [(p["source"], p["text"], p["replace"]) for p in ran.payload] == [
        ("set_next_input", "print(1 / 2)", False)
    ]


async def test_the_cell_before_is_explained(place: ClientServer) -> None:
    place.plays(says("It counts."))
    async with loaded(place, "explain.ipynb") as kernel:
        await kernel.run("total = sum(range(17))")
        await kernel.run("%ai explain")

    assert "total = sum(range(17))" in last_prompt(place)


async def test_braces_in_code_that_is_fixed_or_explained_name_no_variables(
    place: ClientServer,
) -> None:
    place.plays(says("Mend it."), says("It prints."))
    async with loaded(place, "braces.ipynb") as kernel:
        await kernel.run("city = 'Ulm-Wiblingen'")
        await kernel.run('print(f"{city} {{n}}" + 1)')
        await kernel.run("%ai fix for {city}")
        fixed = last_prompt(place)
        await kernel.run('%%ai explain\nprint(f"{city} {{n}}")')

    assert 'print(f"{city} {{n}}" + 1)' in fixed
    assert "for <city: str of 13 characters>" in fixed
    assert 'print(f"{city} {{n}}")' in last_prompt(place)


async def test_nothing_to_fix_is_said(place: ClientServer) -> None:
    async with loaded(place, "nothing.ipynb") as kernel:
        ran = await kernel.run("%ai fix")

    assert ran.error == (
        "MagicFailed: No cell has failed that is known here. Run the one that fails first."
    )


async def test_variables_are_sent_as_the_setting_says(place: ClientServer) -> None:
    place.plays(says("I see."))
    async with loaded(place, "vars.ipynb") as kernel:
        await kernel.run("city = 'Ulm-Wiblingen'")
        ran = await kernel.run("%ai Where is {city}? {other}")

    assert "Where is <city: str of 13 characters>? {other}" in last_prompt(place)
    assert "Ulm-Wiblingen" not in str(place.upstream.requests()[-1]["body"])
    assert "Of city only the type was sent" in ran.text


async def test_answers_take_other_forms(place: ClientServer) -> None:
    place.plays(
        says('```json\n{"a": 1}\n```'),
        says("```python\nx\u200b = 2\n```"),
        says("```html\n<b>x</b>\n```"),
        says("```\n<svg></svg>\n```"),
        says("I cannot."),
        says("<plain>\x1b[2J"),
    )
    async with loaded(place, "forms.ipynb") as kernel:
        tree = await kernel.run("%ai -f json -o answer One?")
        kept = await kernel.run("print(answer)")
        code = await kernel.run("%ai -f code Two?")
        page = await kernel.run("%ai -f html Three?")
        image = await kernel.run("%ai -f image Four?")
        wrong = await kernel.run("%ai -f json Five?")
        plain = await kernel.run("%ai -f text Six?")

    assert tree.shown[0]["application/json"] == {"a": 1}
    assert '"a": 1' in kept.text
    assert code.payload[0]["text"] == "x = 2"
    assert "1 hidden character was removed" in code.text
    assert page.shown[0]["text/html"].startswith('<iframe sandbox=""')
    assert image.shown[0]["text/html"].startswith("<img alt=")
    assert wrong.error.startswith("MagicFailed: The answer is not JSON")
    assert plain.shown[0] == {"text/plain": "<plain>\\x1b[2J"}


async def test_tools_ask_in_the_cell(place: ClientServer) -> None:
    write = [calls("write_file", {"path": f"m{n}.txt", "content": "M"}) for n in range(2)]
    place.plays(write[0], says("Written."), write[1], says("As you like."))
    async with loaded(place, "tools.ipynb") as kernel:
        allowed = await kernel.run("%ai -t Write.", "y")
        denied = await kernel.run("%ai -t Again.", "not now")

    assert allowed.asked == ["Allow write_file? [y/N, or what to do instead] "]
    assert allowed.shown[-1]["text/plain"] == "Written."
    assert (place.lab.root / "m0.txt").read_text() == "M"
    assert denied.shown[-1]["text/plain"] == "As you like."
    assert not (place.lab.root / "m1.txt").exists()


async def test_nothing_of_what_is_to_be_allowed_is_left_out(place: ClientServer) -> None:
    content = "harmless\n" * 1_000 + "the end\u202e"
    place.plays(calls("write_file", {"path": "long.txt", "content": content}))
    async with loaded(place, "long.ipynb") as kernel:
        ran = await kernel.run("%ai -t Write.", "n")

    assert ran.asked == ["Allow write_file? [y/N, or what to do instead] "]
    assert "the end\\u202e" in ran.text


async def test_a_magic_steps_aside_when_the_agent_needs_its_kernel(
    place: ClientServer, client: Client
) -> None:
    path = place.lab.root / "own.ipynb"
    path.write_text(notebook(("a", "print(6 * 7)")))
    place.plays(calls("run_cell", {"path": path.name, "cell_id": "a"}), says("It printed 42."))
    async with loaded(place, path.name) as kernel:
        ran = await kernel.run("%ai -t Run cell a", "y")
        session = client.list(kind="kernel")[0]
        answer = await asyncio.to_thread(client.follow(session.id).answer)

    assert ran.error == ""
    assert "The conversation goes on in the side panel." in ran.text
    assert answer.text == "It printed 42."
    assert texts(json.loads(path.read_text())["cells"], "a") == "42\n"


async def test_cost_models_and_help_are_shown(place: ClientServer) -> None:
    place.plays(says("Hi."))
    async with loaded(place, "facts.ipynb") as kernel:
        await kernel.run("%ai Hi")
        ran = [await kernel.run(f"%ai {word}") for word in ("cost", "models", "help")]

    assert [each.error for each in ran] == ["", "", ""]
    cost, models, helped = (each.shown[0]["text/markdown"] for each in ran)
    assert "This month:" in cost
    assert "This conversation:" in cost
    assert "| `simulated` | simulator | default |" in models
    assert "`%ai fix`" in helped


async def test_the_workspace_is_searched(place: ClientServer) -> None:
    (place.lab.root / "searched.py").write_text("def unusual_word(): ...\n")
    async with loaded(place, "search.ipynb") as kernel:
        ran = await kernel.run("%ai search unusual word")

    assert ran.error == ""
    assert ran.shown[0]["text/plain"].startswith(
        "searched.py:1  unusual_word\n    def unusual_word(): ...\n"
    )


async def test_wrong_use_and_an_unknown_model_are_said_in_one_line(place: ClientServer) -> None:
    async with loaded(place, "wrong.ipynb") as kernel:
        wrong = await kernel.run("%ai --modle x Hi")
        unknown = await kernel.run("%ai -m nothing Hi")

    assert "Did you mean --model?" in wrong.error
    assert unknown.error.startswith("MagicFailed: ")
    assert "nothing" in unknown.error
    assert unknown.traceback == [unknown.error.removeprefix("MagicFailed: ")]
