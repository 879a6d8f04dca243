"""Untrusted text in a conversation makes earlier permissions ask again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jupyter_ai_shoulders.engine.environment.snapshot import WorkspaceFact, WorkspaceSituation
from jupyter_ai_shoulders.testing.scripted_provider import Call, turn
from jupyter_ai_shoulders.tools.base import Result
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.ids import CellId, SessionId
from jupyter_ai_shoulders.wire.messages import (
    Attachment,
    CellAttachment,
    ErrorAttachment,
    FileAttachment,
    FolderAttachment,
    ImageAttachment,
    MessageContext,
    OutputAttachment,
    Selection,
    SelectionAttachment,
    ThreadAttachment,
    VariableAttachment,
)
from jupyter_ai_shoulders.wire.sessions import TextRange
from tests.engine.engine_harness import EngineHarness, make_engine, restart_engine
from tests.engine.environment_harness import FakeEnvironment, make_engine_in_environment
from tests.engine.fake_tools import FakeTool, PathArguments, ToolProbe
from tests.engine.loop.test_turns import check

RULES = '{"version": 1, "rules": [{"action": "allow", "tool": "run_it"}]}'
RUN = Call("run_it", {"path": "a.ipynb"}, "run")
READ = Call("read_file", {"path": "page.md"}, "read")


class ReadFile(FakeTool):
    """Reads a file; its name causes taint."""

    name = "read_file"
    category = "workspace"
    risk = "read"


class CreateFile(FakeTool):
    """Creates a file; its name makes the file trusted."""

    name = "create_file"
    category = "workspace"
    risk = "write"


class EditFile(FakeTool):
    """Refuses to change a text that was not read, and shows it."""

    name = "edit_file"
    category = "workspace"
    risk = "read"  # so that it does not ask by itself

    def result(self, args: PathArguments) -> Result:
        shown = super().result(args)
        return replace(shown, envelope=shown.envelope.model_copy(update={"ok": False}))


def made(*script: object, planning: bool = False) -> EngineHarness:
    tools = [ReadFile(ToolProbe()), CreateFile(ToolProbe()), EditFile(ToolProbe())]
    return make_engine(*script, rules=RULES, loop=tools, planning=planning)  # type: ignore[arg-type] # entries of a script


def asked(w: EngineHarness) -> list[str]:
    return [request.reason.kind for request in w.of(ev.ApprovalRequest)]


async def test_a_stored_rule_holds_until_a_strangers_text_is_read():
    w = made(turn(RUN), turn(READ), turn(Call("run_it", {"path": "a.ipynb"}, "again")), "Done.")
    await w.say()
    assert w.results() == [("run", "ok"), ("read", "ok")]
    (request,) = w.of(ev.ApprovalRequest)
    assert request.reason.kind == "taint"
    assert "page.md" in request.reason.text
    assert "always" not in request.scopes
    await w.answer("allow", "session")
    assert w.results()[-1] == ("again", "ok")
    check(w)


async def test_calls_of_one_step_were_made_without_knowing_what_is_read():
    w = made(turn(READ, RUN), "Done.")
    await w.say()
    assert dict(w.results()) == {"read": "ok", "run": "ok"}
    assert not asked(w)


@pytest.mark.parametrize("opened", [(), ("page.md",)], ids=["closed", "open"])
async def test_what_is_read_taints_whether_it_is_open_or_not(opened: tuple[str, ...]):
    w = made(turn(READ), turn(RUN), "Done.")
    await w.say(context=MessageContext(open_documents=opened, active_document="page.md"))
    assert asked(w) == ["taint"]


async def test_a_file_that_was_made_here_is_known():
    make = Call("create_file", {"path": "page.md"}, "make")
    w = made(turn(make), turn(RUN), "Done.")
    await w.say()
    await w.answer()  # creating a file asks
    assert w.results()[-1] == ("run", "ok")
    assert "taint" not in asked(w)


PLAN = Call("run_plan", {"steps": [{"tool": "read_file", "args": {"path": "page.md"}}]}, "plan")


async def test_what_a_plan_reads_taints_as_if_it_were_read_without_one():
    w = made(turn(PLAN), turn(RUN), "Done.", planning=True)
    await w.say()
    assert w.results()[0] == ("plan", "ok")
    assert asked(w) == ["taint"]


async def test_a_refusal_that_shows_a_strangers_text_taints():
    refused = Call("edit_file", {"path": "page.md"}, "refused")
    w = made(turn(refused), turn(RUN), "Done.")
    await w.say()
    assert w.results() == [("refused", "error")]
    assert asked(w) == ["taint"]


async def test_the_taint_outlasts_the_turn_and_the_server():
    w = made(turn(READ), "Read it.")
    await w.say()
    after = await restart_engine(w, None, turn(RUN), "Done.")
    after.file.text = RULES
    await after.say("Now run it.", message="another")
    assert asked(after) == ["taint"]


async def test_an_informed_grant_holds_for_the_rest_of_the_conversation():
    w = made(turn(READ), turn(RUN), turn(Call("run_it", {"path": "b.ipynb"}, "more")), "Done.")
    await w.say()
    await w.answer("allow", "session")
    assert w.results()[-1] == ("more", "ok")
    assert asked(w) == ["taint"]


CELL = CellId("c")
RANGE = TextRange.model_validate({"from": 0, "to": 1})
ATTACHED: dict[str, Attachment] = {
    "file": FileAttachment(kind="file", path="page.md"),
    "folder": FolderAttachment(kind="folder", path="pages"),
    "cell": CellAttachment(kind="cell", path="b.ipynb", cell_id=CELL),
    "output": OutputAttachment(kind="output", path="b.ipynb", cell_id=CELL, index=0),
    "error": ErrorAttachment(kind="error", path="b.ipynb", cell_id=CELL),
    "selection": SelectionAttachment(
        kind="selection",
        path="page.md",
        cell_id=None,
        range=RANGE,
        text="Run it.",
        before="",
        after="",
    ),
    "variable": VariableAttachment(kind="variable", path="b.ipynb", name="df"),
    "thread": ThreadAttachment(kind="thread", session_id=SessionId("ses_other")),
    "image": ImageAttachment(kind="image", media_type="image/png", data="AAAA", blob=None),
}


@pytest.mark.parametrize("attachment", ATTACHED.values(), ids=ATTACHED)
async def test_every_attachment_taints(attachment: Attachment):
    w = made(turn(RUN), "Done.")
    opened = MessageContext(open_documents=("page.md", "b.ipynb"), active_document="b.ipynb")
    await w.say(attachments=(attachment,), context=opened)
    assert asked(w) == ["taint"]


async def test_a_selection_taints_and_an_open_document_that_was_not_read_does_not():
    for selection, kinds in (
        (Selection(cell_id=None, range=RANGE, text="Run it."), ["taint"]),
        (None, []),
    ):
        w = made(turn(RUN), "Done.")
        await w.say(context=MessageContext(active_document="page.md", selection=selection))
        assert asked(w) == kinds


async def test_variables_that_are_told_taint_with_their_notebook():
    fact = WorkspaceFact(
        "variables of the kernel", "df: columns: run_it", is_data=True, path="a.ipynb"
    )
    place = FakeEnvironment(now=WorkspaceSituation(facts=(fact,)))
    w = make_engine_in_environment(place, turn(RUN), "Done.")
    w.file.text = RULES
    await w.say()
    assert asked(w) == ["taint"]
    assert "a.ipynb" in w.of(ev.ApprovalRequest)[0].reason.text
