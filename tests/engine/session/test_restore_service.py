"""Restoring to before a message: the conversation, the documents, and the model's context."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_ai_shoulders.changes.recording.recorder import ChangeRecorder
from jupyter_ai_shoulders.changes.recording.recording_wrappers import (
    RecordedNotebooks,
    record_tools,
)
from jupyter_ai_shoulders.changes.restore.restorer import Restorer
from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest
from jupyter_ai_shoulders.files.undo.file_undo import FileUndo
from jupyter_ai_shoulders.testing.memory_notebooks import NotebookNameList
from jupyter_ai_shoulders.testing.memory_store import CountingIds, MemoryStore
from jupyter_ai_shoulders.testing.scripted_provider import (
    Call,
    Gate,
    Say,
    ScriptedProvider,
    ScriptEntry,
    turn,
)
from jupyter_ai_shoulders.tools.editing.read_cache import ReadTextCache
from jupyter_ai_shoulders.tools.notebook.access import CellReadTracker, NotebookAccess
from jupyter_ai_shoulders.tools.notebook.add_and_delete import AddCell
from jupyter_ai_shoulders.tools.notebook.edit_cell import EditCell
from jupyter_ai_shoulders.wire.api.commands import RestoreSession
from jupyter_ai_shoulders.wire.conversation.reducer import reduce_events
from jupyter_ai_shoulders.wire.conversation.views import UserView
from jupyter_ai_shoulders.wire.events import MessageAdd, Restore
from jupyter_ai_shoulders.wire.ids import RestoreId
from jupyter_ai_shoulders.wire.parts import TextPart
from tests.changes.notebook_harness import PATH, Kernel, OneNotebook, RuledNotebook, cell, write
from tests.engine.engine_harness import (
    SESSION,
    EngineHarness,
    make_engine_around,
    make_session,
    restart_engine,
)
from tests.engine.fake_tools import ToolProbe
from tests.engine.log_invariants import check_contexts, check_log, check_requests


class RestoreHarness:
    """An engine whose agent adds and edits cells of one notebook."""

    def __init__(self, *script: ScriptEntry, files: FileUndo | None = None) -> None:
        self.notebook = RuledNotebook(cell("a", "x = 1"))
        self.notebooks = notebooks = OneNotebook(self.notebook)
        store = MemoryStore()
        store.add(make_session(mode="auto_edit"))
        self.recorder = ChangeRecorder(store, store.blobs, Kernel(self.notebook))
        ids = CountingIds()
        access = NotebookAccess(RecordedNotebooks(notebooks, self.recorder), NotebookNameList(PATH))
        versions = CellReadTracker(ReadTextCache())
        cell_tools = [AddCell(access, versions), EditCell(access, versions, ids)]
        tools = record_tools(cell_tools, self.recorder)
        restorer = Restorer(store, store.blobs, notebooks, self.recorder, ids, files=files)
        self.world: EngineHarness = make_engine_around(
            store, ToolProbe(), ScriptedProvider(*script), ids=ids, loop=tools, restorer=restorer
        )

    async def restore(self, message: str, *what: Any, restore_id: str | None = None) -> Restore:
        seq = next(e.seq for e in self.world.of(MessageAdd) if e.message_id == message)
        return await self.restore_at(seq, *what, restore_id=restore_id)

    async def restore_at(self, seq: int, *what: Any, restore_id: str | None = None) -> Restore:
        command = RestoreSession(
            seq=seq, what=what, id=None if restore_id is None else RestoreId(restore_id)
        )
        return await self.world.engine.restores.restore(SESSION, command)

    @property
    def texts(self) -> list[str]:
        return [source for _, source in self.notebook.texts]

    @property
    def said(self) -> list[str]:
        messages = reduce_events(self.world.events).messages
        return [message.text for message in messages if isinstance(message, UserView)]


def adds(source: str, call_id: str) -> ScriptEntry:
    return turn(Call("add_cell", {"path": PATH, "source": source}, call_id))


async def two_turns(*more: ScriptEntry) -> RestoreHarness:
    place = RestoreHarness(
        adds("one", "k1"), turn(Say("Done.")), adds("two", "k2"), turn(Say("Done.")), *more
    )
    await place.world.say("first", message="m1")
    await place.world.say("second", message="m2")
    assert place.texts == ["x = 1", "one", "two"]
    return place


async def test_restore_before_the_second_turn_brings_notebook_and_conversation_back():
    place = await two_turns()

    event = await place.restore("m2", "notebook", "conversation")

    assert place.texts == ["x = 1", "one"]
    assert place.said == ["first"]
    assert [cell.title for cell in event.documents[0].removed] == ["two"]
    check_log(place.world.events)
    check_contexts(place.world.events, place.world.store.blobs)


async def test_model_knows_nothing_of_what_was_hidden():
    place = await two_turns(turn(Say("Hello.")))
    await place.restore("m2", "notebook", "conversation")

    await place.world.say("another", message="m3")

    request = place.world.provider.requests[-1]
    assert "second" not in str(request.messages)
    assert "took back" not in str(request.messages)
    check_requests(place.world.provider.requests)


async def test_model_is_told_when_documents_alone_went_back():
    place = await two_turns(turn(Say("Hello.")))
    await place.restore("m1", "notebook")
    assert place.texts == ["x = 1"]

    await place.world.say("another", message="m3")

    request = place.world.provider.requests[-1]
    told = [part.text for part in request.messages[-1].parts if isinstance(part, TextPart)]
    assert any("The user took back what you did. a.ipynb was put back: 2 cells" in t for t in told)
    check_requests(place.world.provider.requests)
    check_contexts(place.world.events, place.world.store.blobs)


async def test_conversation_alone_goes_back_and_the_notebook_stays():
    place = await two_turns()

    event = await place.restore("m1", "conversation")

    assert (place.said, place.texts) == ([], ["x = 1", "one", "two"])
    assert event.conversation is not None
    assert event.conversation.messages == 2


async def test_notebook_can_still_go_back_after_the_conversation_did():
    place = await two_turns(adds("three", "k3"), turn(Say("Done.")))
    await place.restore("m2", "conversation")
    await place.world.say("third", message="m3")
    assert place.texts == ["x = 1", "one", "two", "three"]

    await place.restore("m1", "notebook")

    assert place.texts == ["x = 1"]


async def test_restore_is_taken_back_by_restoring_to_it():
    place = await two_turns()
    event = await place.restore("m1", "notebook")

    undone = await place.restore_at(event.seq, "notebook")

    assert place.texts == ["x = 1", "one", "two"]
    assert undone.undone == event.restore_id
    shown = reduce_events(place.world.events).messages[-1]
    assert [part.type for part in getattr(shown, "parts", ())][-2:] == ["restore", "restore"]


async def test_same_restore_again_does_nothing_until_something_happened():
    place = await two_turns()
    first = await place.restore("m2", "notebook")
    events = len(place.world.events)

    again = await place.restore("m2", "notebook")

    assert again == first
    assert len(place.world.events) == events


async def test_restore_with_an_id_is_done_once():
    place = await two_turns()
    first = await place.restore("m2", "notebook", restore_id="r")
    await place.restore("m1", "notebook")

    assert await place.restore("m2", "notebook", restore_id="r") == first


async def test_restore_is_refused_while_a_turn_runs():
    gate = Gate()
    place = RestoreHarness(adds("one", "k1"), turn(Say("Done.")), turn(gate, Say("Late.")))
    await place.world.say("first", message="m1")
    await place.world.send("second", message="m2")

    with pytest.raises(Conflict) as refused:
        await place.restore("m1", "notebook", "conversation")

    assert refused.value.info.code == "turn_running"
    gate.open.set()
    await place.world.settle()
    assert place.texts == ["x = 1", "one"]


async def test_event_that_is_no_message_of_the_user_is_refused():
    place = await two_turns()
    events = len(place.world.events)

    with pytest.raises(InvalidRequest, match="is no message of yours"):
        await place.restore_at(1, "notebook")

    assert len(place.world.events) == events


async def test_hidden_message_is_refused():
    place = await two_turns()
    await place.restore("m1", "conversation")

    with pytest.raises(InvalidRequest, match="is no message of yours"):
        await place.restore("m2", "notebook")


async def test_users_change_since_is_shown_as_a_proposal_behind_the_restore():
    script = turn(Call("edit_cell", {"path": PATH, "cell_id": "a", "source": "x = 9"}, "k1"))
    place = RestoreHarness(script, script, turn(Say("Done.")))
    await place.world.say("first", message="m1")
    assert place.texts == ["x = 9"]
    await place.notebook.apply([write("a", "x = 9 + mine")], {})

    await place.restore("m1", "notebook", "conversation")

    assert place.texts == ["x = 9 + mine"]
    shown = reduce_events(place.world.events).messages[-1]
    assert [part.type for part in getattr(shown, "parts", ())] == ["restore", "proposal"]


async def test_restored_conversation_is_the_same_after_a_restart():
    place = await two_turns()
    await place.restore("m2", "notebook", "conversation")

    after = await restart_engine(place.world, None, turn(Say("Hello.")))
    await after.say("another", message="m3")

    assert "second" not in str(after.provider.requests[-1].messages)
    check_requests(after.provider.requests)


async def test_restore_that_a_kill_cut_off_is_finished_at_the_next_start():
    place = await two_turns()
    world = place.world

    def killed(event: object) -> None:
        if isinstance(event, Restore):
            raise KilledHere

    world.store.before_append = killed
    with pytest.raises(KilledHere):
        await place.restore("m2", "notebook", "conversation", restore_id="r")
    world.store.before_append = None
    assert (place.texts, place.said) == (["x = 1", "one"], ["first", "second"])

    await world.engine.restores.resume_unfinished()

    assert (place.texts, place.said) == (["x = 1", "one"], ["first"])
    (event,) = world.of(Restore)
    assert event.restore_id == "r"


async def test_restore_that_failed_is_not_done_when_the_user_went_on():
    place = await two_turns(turn(Say("Hello.")))
    world = place.world

    def killed(event: object) -> None:
        if isinstance(event, Restore):
            raise KilledHere

    world.store.before_append = killed
    with pytest.raises(KilledHere):
        await place.restore("m2", "notebook", "conversation", restore_id="r")
    world.store.before_append = None
    await world.say("third", message="m3")

    await world.engine.restores.resume_unfinished()

    assert place.said == ["first", "second", "third"]


class KilledHere(Exception):
    """Ends the process."""
