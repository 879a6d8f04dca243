"""The content of requests: a pure function of the log with a stable beginning."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from datetime import UTC, timedelta, timezone
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.engine.environment.attachments import AttachmentRecord
from jupyter_ai_shoulders.engine.request.builder import ToolEncodingCache
from jupyter_ai_shoulders.engine.request.context import (
    SessionContext,
    build_request_content,
    output_reserve,
    prompt_budget,
    read_tools,
    read_zone,
    tools_blob,
    zone_blob,
)
from jupyter_ai_shoulders.engine.request.system_prompt import (
    SECTIONS,
    shipped_section,
    system_prompt,
)
from jupyter_ai_shoulders.engine.transcript.user_message_rendering import (
    CapturedContext,
    RenderSettings,
    render_user_message,
)
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.testing.memory_store import FixedClock
from jupyter_ai_shoulders.testing.scripted_provider import Say, Think, turn
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.ids import BlobHash, CellId, MessageId
from jupyter_ai_shoulders.wire.messages import (
    CellAttachment,
    FileAttachment,
    ImageAttachment,
    MessageContext,
    Selection,
    SelectionAttachment,
)
from jupyter_ai_shoulders.wire.parts import ImagePart, ProviderState, TextPart
from jupyter_ai_shoulders.wire.sessions import TextRange
from tests.engine.engine_harness import (
    CONTEXT,
    SESSION,
    make_engine,
    make_session,
    model_spec,
    restart_engine,
)
from tests.engine.fake_tools import ToolProbe, registry
from tests.engine.loop.test_crash_recovery import make_conversation

SIGNED = ProviderState(provider="scripted", model="vendor-m1", data={"signature": "abc"})


def prefix(request: ModelRequest) -> list[str]:
    return [message.model_dump_json() for message in request.messages]


def check_growing(requests: Sequence[ModelRequest]) -> None:
    """Check that each request starts with the bytes of the one before, except its last message."""
    for before, after in itertools.pairwise(requests):
        assert after.system == before.system
        assert after.tools == before.tools
        kept = prefix(before)[:-1]
        assert prefix(after)[: len(kept)] == kept


async def test_sent_bytes_only_grow_within_a_turn_and_across_turns():
    w = await make_conversation()
    assert len(w.provider.requests) >= 4
    check_growing(w.provider.requests)
    for request in w.provider.requests[:-1]:
        assert prefix(request)[-1] in prefix(w.provider.requests[-1])


async def test_messages_that_are_closed_stay_the_same_objects():
    """Providers keep the encoded bytes of a message by its identity."""
    w = await make_conversation()
    first, second = w.provider.requests[-2:]
    for before, after in zip(first.messages[:-3], second.messages, strict=False):
        assert before is after


async def test_request_can_be_rebuilt_from_the_log_byte_for_byte():
    w = await make_conversation()
    steps = [event.seq for event in w.events if isinstance(event, ev.StepStart)]
    assert len(steps) == len(w.provider.requests)
    for seq, request in zip(steps, w.provider.requests, strict=True):
        built = build_request_content(w.events[: seq - 1], w.store.blobs)
        assert (built.system, built.messages, built.tools) == (
            request.system,
            request.messages,
            request.tools,
        )


async def test_request_after_a_restart_begins_with_the_same_bytes():
    w = make_engine(turn(Think("Hm.", SIGNED), Say("One.")), "Two.")
    await w.say(context=CONTEXT)
    after = await restart_engine(w, None, "Three.")
    await w.say("More", context=CONTEXT)
    await after.say("More", message="other", context=CONTEXT)
    assert prefix(after.provider.requests[0]) == prefix(w.provider.requests[1])


async def test_provider_state_is_sent_back_verbatim():
    w = make_engine(turn(Think("Hm.", SIGNED), Say("One.")), "Two.")
    await w.say()
    await w.say()
    reasoning = w.provider.requests[1].messages[1].parts[0].model_dump()
    assert (reasoning["type"], reasoning["text"], reasoning["state"]) == (
        "reasoning",
        "Hm.",
        SIGNED.model_dump(),
    )


async def test_system_prompt_and_tools_enter_the_log_once():
    w = make_engine("One.", "Two.", "Three.")
    for _ in range(3):
        await w.say()
    assert [(event.role, event.source) for event in w.of(ev.ContextAdd)] == [
        ("system", "prompts"),
        ("meta", "mark of data"),
        ("tools", "tool definitions"),
        ("meta", "time zone"),
    ]
    assert w.of(ev.ContextRebase) == []
    system = w.store.blobs.get(w.of(ev.ContextAdd)[0].blob).decode()
    assert system == w.provider.requests[0].system
    assert "Started on 2026-03-02" in system


async def test_what_is_stored_already_is_not_stored_again(monkeypatch: pytest.MonkeyPatch):
    w = make_engine("One.", "Two.", "Three.")
    put = w.store.blobs.put
    stored: list[bytes] = []

    def noted(content: bytes) -> BlobHash:
        stored.append(content)
        return put(content)

    monkeypatch.setattr(w.store.blobs, "put", noted)
    await w.say()
    first = len(stored)
    await w.say()
    assert (first, len(stored)) == (4, 4)
    w.file.text = json.dumps({"version": 1, "disabled": ["look"]})
    await w.say()
    assert len(stored) == 5


async def test_tools_that_changed_are_a_rebase_at_the_next_turn():
    w = make_engine(turn(Think("Hm."), Say("One.")), "Two.")
    await w.say()
    w.file.text = json.dumps({"version": 1, "disabled": ["look"]})
    await w.say()
    (rebase,) = w.of(ev.ContextRebase)
    assert rebase.reason == "tools"
    assert "look" not in [tool.name for tool in w.provider.requests[1].tools]
    assert "reasoning" not in str(prefix(w.provider.requests[1]))


async def test_request_carries_what_the_provider_needs():
    w = make_engine("Hi.", model=model_spec(max_output=4_000))
    accepted = await w.send()
    await w.settle()
    (request,) = w.provider.requests
    assert (request.model, request.max_output, request.cache_key) == ("vendor-m1", 4_000, SESSION)
    assert request.trace_id == f"{accepted.turn_id}/1"


def test_system_prompt_is_the_shipped_text_in_order():
    text = system_prompt("2026-03-02T09:30:00.000Z", "/work", "de_DE", ["git"])
    places = [text.index(shipped_section(name)) for name in SECTIONS]
    assert places == sorted(places)
    assert text.endswith(
        "# This conversation\n"
        "Started on 2026-03-02.\n"
        "Locale of the user's system: de_DE.\n"
        "Workspace: /work\n"
        "Tools that can be loaded when needed: git (status, differences, commits)."
    )
    assert len(text) < 6_500


def test_tool_definitions_survive_the_log():
    tools = registry(ToolProbe()).definitions("full", "ask", ())
    assert read_tools(tools_blob(tools)) == tools


def test_tools_are_encoded_once_for_each_set_of_them():
    tools = registry(ToolProbe())
    encoded = ToolEncodingCache()
    asking, planning = (tools.definitions("full", mode, ()) for mode in ("ask", "plan"))
    blobs = [encoded.blob(asking), encoded.blob(planning), encoded.blob((*asking,))]
    assert blobs == [tools_blob(asking), tools_blob(planning), tools_blob(asking)]
    assert blobs[0] is blobs[2]


def test_size_is_the_same_however_it_was_counted_before():
    w = make_engine("Hi.")
    tools = registry(ToolProbe()).definitions("full", "ask", ())
    contexts = [SessionContext(w.store.blobs), SessionContext(w.store.blobs)]
    for content, role in ((b"Be good.", "system"), (tools_blob(tools[:1]), "tools")):
        enter(contexts, role, w.store.blobs.put(content))
    for family in ("anthropic", "other"):
        assert contexts[0].tokens(contexts[0].built(), family, 1.0) > 0
    small = contexts[0].tokens(contexts[0].built(), "other", 1.0)
    enter(contexts, "tools", w.store.blobs.put(tools_blob(tools)))
    counted = [context.tokens(context.built(), "other", 1.0) for context in contexts]
    assert counted[0] == counted[1] > small


def enter(contexts: Sequence[SessionContext], role: str, blob: BlobHash) -> None:
    event = ev.ContextAdd.model_validate({"role": role, "source": "a test", "blob": blob})
    for context in contexts:
        context.add(event)


def test_zone_is_kept_as_minutes():
    assert read_zone(b"+330") == timezone(timedelta(hours=5, minutes=30))
    assert read_zone(b"+0") == UTC
    assert read_zone(zone_blob(FixedClock().now())) is not None


# the user's message


def message(**changes: object) -> ev.MessageAdd:
    values = {"message_id": MessageId("m"), "text": "Hi", "at": "2026-03-02T09:30:59.000Z"}
    return ev.MessageAdd.model_validate({**values, **changes})


def texts(parts: Sequence[object]) -> list[str]:
    return [part.text for part in parts if isinstance(part, TextPart)]


def test_workspace_block_has_the_lines_the_demo_reads():
    context = MessageContext(
        active_document="a.ipynb",
        active_cell_id=CellId("c1"),
        open_documents=("a.ipynb", "b\nlocal time: never.ipynb"),
    )
    zone = timezone(timedelta(hours=2))
    rendered = render_user_message(
        message(context=context), RenderSettings(zone=zone), CapturedContext(), {}
    )
    assert texts(rendered.parts) == [
        "Hi",
        (
            "<workspace>\n"
            "active document: a.ipynb\n"
            "active cell: c1\n"
            "open documents: a.ipynb, b local time: never.ipynb\n"
            "local time: Monday 2026-03-02 11:30 UTC+02:00\n"
            "</workspace>"
        ),
    ]


def test_what_is_not_open_is_not_mentioned():
    rendered = render_user_message(message(), RenderSettings(), CapturedContext(), {})
    assert texts(rendered.parts)[1:] == [
        "<workspace>\nlocal time: Monday 2026-03-02 09:30 UTC\n</workspace>"
    ]


def test_selection_and_attachments_are_told():
    where = TextRange.model_validate({"from": 0, "to": 3})
    selection = Selection(cell_id=CellId("c1"), range=where, text="x=1")
    context = MessageContext(active_document="a.ipynb", selection=selection)
    picked = SelectionAttachment(
        kind="selection", path="b.py", cell_id=None, range=where, text="y=2", before="", after=""
    )
    image = ImageAttachment(kind="image", media_type="image/png", data="AAAA", blob=None)
    cell = CellAttachment(kind="cell", path="a.ipynb", cell_id=CellId("c2"))
    file = FileAttachment(kind="file", path="data.csv")
    sent = message(text=" ", context=context, attachments=(picked, image, cell, file))
    rendered = render_user_message(sent, RenderSettings(secret="5ec2e7"), CapturedContext(), {})
    assert texts(rendered.parts)[:-1] == [
        (
            "[attached selection in b.py]\n"
            '<data id="5ec2e7" source="selection in b.py">\ny=2\n</data id="5ec2e7">'
        ),
        "[attached cell c2 of a.ipynb]",
        "[attached file: data.csv]",
        (
            '<selection document="a.ipynb" cell="c1">\n'
            '<data id="5ec2e7" source="selection">\nx=1\n</data id="5ec2e7">\n</selection>'
        ),
    ]
    assert rendered.parts[-1] == ImagePart(media_type="image/png", data="AAAA")


def test_selection_is_shown_with_what_stands_around_it():
    where = TextRange.model_validate({"from": 300, "to": 303})
    picked = SelectionAttachment(
        kind="selection",
        path="b.py",
        cell_id=None,
        range=where,
        text="y=2",
        before="b" * 300,
        after="a" * 300,
    )
    rendered = render_user_message(
        message(attachments=(picked,)), RenderSettings(), CapturedContext(), {}
    )
    assert "\n" + "b" * 200 + "⟦y=2⟧" + "a" * 200 + "\n" in texts(rendered.parts)[1]


def test_selection_that_was_refused_is_not_shown():
    where = TextRange.model_validate({"from": 0, "to": 9})
    picked = SelectionAttachment(
        kind="selection",
        path=".env",
        cell_id=None,
        range=where,
        text="TOKEN=abc",
        before="",
        after="",
    )
    refused = AttachmentRecord(
        message_id=MessageId("m1"), index=0, content=(), note="not shown: it holds secrets"
    )
    context = MessageContext(
        active_document=".env", selection=Selection(cell_id=None, range=where, text="TOKEN=abc")
    )
    said = message(attachments=(picked,), context=context)
    shown = "\n".join(
        texts(render_user_message(said, RenderSettings(), CapturedContext({0: refused}), {}).parts)
    )
    assert "TOKEN" not in shown
    assert "[attached selection in .env; not shown: it holds secrets]" in shown


# budget

BUDGETS = {
    "large window": (model_spec(context_window=200_000), 16_384, 153_616),
    "thinking": (
        model_spec(context_window=200_000, thinking_support={"mode": "adaptive"}),
        32_768,
        137_232,
    ),
    "little output": (model_spec(context_window=200_000, max_output=8_192), 8_192, 161_808),
    "small window": (model_spec(context_window=8_000), 2_000, 4_800),
    "unknown window": (model_spec(context_window=None, family="anthropic"), 16_384, 153_616),
}


@pytest.mark.parametrize(("model", "reserve", "budget"), BUDGETS.values(), ids=BUDGETS.keys())
def test_budget_leaves_room_for_the_answer(model: ModelSpec, reserve: int, budget: int):
    assert (output_reserve(model), prompt_budget(model)) == (reserve, budget)


async def test_estimates_are_corrected_by_what_was_reported():
    w = make_engine(turn(Say("One.")), turn(Say("Two.")), given=make_session(tools="disabled"))
    await w.say("word " * 1_000)
    await w.say("more")
    first, second = w.of(ev.StepStart)
    assert second.tokens_used < first.tokens_used  # 100 tokens were reported, far fewer


def test_prompt_is_as_it_was_last_looked_at():
    """A changed prompt changes every conversation: review the whole text."""
    golden = Path(__file__).parent / "golden" / "system_prompt.md"
    prompt = system_prompt("2026-03-02T09:30:00.000Z", "/work", "en_GB")
    assert prompt + "\n" == golden.read_text("utf-8")
