"""A stranger's text in a conversation: what was allowed beforehand asks again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jupyter_ai_shoulders.testing.scripted import Call, turn
from jupyter_ai_shoulders.tools.base import Result
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.messages import FileAttachment, MessageContext, OutputAttachment
from tests.engine.test_turns import check
from tests.engine.tools import Desk, FakeTool, PathArguments
from tests.engine.world import World, restarted, world

RULES = '{"version": 1, "rules": [{"action": "allow", "tool": "run_it"}]}'
RUN = Call("run_it", {"path": "a.ipynb"}, "run")
READ = Call("read_file", {"path": "page.md"}, "read")


class ReadFile(FakeTool):
    """Reads a file, by the name that taints."""

    name = "read_file"
    category = "workspace"
    risk = "read"


class CreateFile(FakeTool):
    """Makes a file, by the name that vouches for it."""

    name = "create_file"
    category = "workspace"
    risk = "write"


class EditFile(FakeTool):
    """Refuses to change what was not read, and shows it."""

    name = "edit_file"
    category = "workspace"
    risk = "read"  # so that it does not ask by itself

    def result(self, args: PathArguments) -> Result:
        shown = super().result(args)
        return replace(shown, envelope=shown.envelope.model_copy(update={"ok": False}))


def made(*script: object, planning: bool = False) -> World:
    tools = [ReadFile(Desk()), CreateFile(Desk()), EditFile(Desk())]
    return world(*script, rules=RULES, loop=tools, planning=planning)  # type: ignore[arg-type] # entries of a script


def asked(w: World) -> list[str]:
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


async def test_a_file_the_user_has_open_and_one_that_was_made_here_are_no_strangers():
    make = Call("create_file", {"path": "page.md"}, "make")
    w = made(turn(READ), turn(RUN), "Done.")
    await w.say(context=MessageContext(open_documents=("page.md",)))
    assert not asked(w)
    w = made(turn(make), turn(READ), turn(RUN), "Done.")
    await w.say()
    await w.answer()  # making a file asks
    assert w.results()[-1] == ("run", "ok")
    assert "taint" not in asked(w)


PLAN = Call("run_plan", {"steps": [{"tool": "read_file", "args": {"path": "page.md"}}]}, "plan")


@pytest.mark.parametrize(
    ("opened", "expected"), [((), ["taint"]), (("page.md",), [])], ids=["a stranger's", "open"]
)
async def test_what_a_plan_reads_taints_as_if_it_were_read_without_one(
    opened: tuple[str, ...], expected: list[str]
):
    w = made(turn(PLAN), turn(RUN), "Done.", planning=True)
    await w.say(context=MessageContext(open_documents=opened))
    assert w.results()[0] == ("plan", "ok")
    assert asked(w) == expected


async def test_a_refusal_that_shows_a_strangers_text_taints():
    refused = Call("edit_file", {"path": "page.md"}, "refused")
    w = made(turn(refused), turn(RUN), "Done.")
    await w.say()
    assert w.results() == [("refused", "error")]
    assert asked(w) == ["taint"]
    w = made(turn(refused), turn(RUN), "Done.")
    await w.say(context=MessageContext(open_documents=("page.md",)))
    assert not asked(w)


async def test_the_taint_outlasts_the_turn_and_the_server():
    w = made(turn(READ), "Read it.")
    await w.say()
    after = await restarted(w, None, turn(RUN), "Done.")
    after.file.text = RULES
    await after.say("Now run it.", message="another")
    assert asked(after) == ["taint"]


async def test_an_informed_grant_holds_for_the_rest_of_the_conversation():
    w = made(turn(READ), turn(RUN), turn(Call("run_it", {"path": "b.ipynb"}, "more")), "Done.")
    await w.say()
    await w.answer("allow", "session")
    assert w.results()[-1] == ("more", "ok")
    assert asked(w) == ["taint"]


async def test_an_attached_file_that_is_not_open_taints():
    w = made(turn(RUN), "Done.")
    await w.say(attachments=(FileAttachment(kind="file", path="page.md"),))
    assert asked(w) == ["taint"]


async def test_an_output_taints_unless_its_notebook_is_open():
    output = OutputAttachment(kind="output", path="b.ipynb", cell_id=CellId("c"), index=0)
    for opened, kinds in (((), ["taint"]), (("b.ipynb",), [])):
        w = made(turn(RUN), "Done.")
        await w.say(attachments=(output,), context=MessageContext(open_documents=opened))
        assert asked(w) == kinds
