"""Copies of conversations: the same events, the same bytes to the model, the source untouched."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, StateUnavailable
from jupyter_ai_shoulders.engine.calls.background_tasks import BackgroundTasks
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.engine.request.context import build_request_content
from jupyter_ai_shoulders.engine.session.services import EngineServices
from jupyter_ai_shoulders.host.sessions.forks import Forks, fork_title
from jupyter_ai_shoulders.storage.artifacts import ArtifactFiles
from jupyter_ai_shoulders.storage.sessions.forks import SqliteForks, copied_proposal_id
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.testing.scripted_provider import Call, Gate, Say, ScriptedProvider, turn
from jupyter_ai_shoulders.tools.conversation.clarify import Clarify
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import AnswerApproval, ForkSession, SendMessage
from jupyter_ai_shoulders.wire.conversation.reducer import reduce_events
from jupyter_ai_shoulders.wire.conversation.views import Conversation, ProposalView
from jupyter_ai_shoulders.wire.events import Event, event_adapter
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, SessionId
from jupyter_ai_shoulders.wire.sessions import Session
from tests.engine.engine_harness import FakeModels, MemoryFile, model_spec
from tests.engine.engine_harness import make_settings as engine_settings
from tests.engine.fake_tools import ToolProbe, registry
from tests.engine.log_invariants import check_contexts, check_log
from tests.storage.store import MovableClock, Store, rewrite_events, session
from tests.support.proposals import build_proposal

SOURCE = SessionId("ses_source")
_ALL = SessionFilter()
FIXTURES = sorted((Path(__file__).parents[2] / "wire/fixtures/reducer").glob("*.json"))


class EngineSetup:
    """A real store with an engine over it, whose model plays a script."""

    def __init__(self, path: Path, *script: object) -> None:
        self.store = Store(path, MovableClock())
        self.provider = ScriptedProvider(*script)  # type: ignore[arg-type]  # entries, as tests give them
        self.probe = ToolProbe()
        self.file = MemoryFile()
        self.ids = CountingIds()
        self.artifacts = ArtifactFiles(self.store.directory)
        self.engine = Engine(
            EngineServices(
                log=self.store.log,
                sessions=self.store.sessions,
                blobs=self.store.blobs,
                models=FakeModels(self.provider, model_spec()),
                tools=registry(self.probe, Clarify()),
                rules=PermissionStore(self.file),
                clock=self.store.clock,
                ids=self.ids,
                settings=engine_settings(),
                background_tasks=BackgroundTasks(self.ids),
            ),
        )
        self.forks = Forks(
            log=self.store.log,
            sessions=self.store.sessions,
            copies=SqliteForks(
                self.store.database, self.store.log, self.store.published, self.store.clock
            ),
            artifacts=self.artifacts,
            engine=self.engine,
            ids=self.ids,
        )

    @property
    def source(self) -> Session:
        return self.store.sessions.get(SOURCE)

    def events(self, session_id: SessionId = SOURCE) -> list[Event]:
        return [logged.event for logged in self.store.log.read(session_id)]

    async def say(self, text: str, session_id: SessionId = SOURCE, message: str = "") -> None:
        command = SendMessage(id=MessageId(message or text), text=text)
        await self.engine.send(session_id, command)
        await self.engine.settled(session_id)

    async def fork(self, seq: int | None = None) -> Session:
        return await self.forks.fork(self.source, ForkSession(seq=seq))

    def seq_of(self, kind: type[Event], index: int = -1) -> int:
        return [event.seq for event in self.events() if isinstance(event, kind)][index]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".shoulders"


def shown(conversation: Conversation) -> Conversation:
    """The conversation without the parts that differ in a copy: identity, cost, ids of proposals
    and edits.
    """

    def normal(value: object) -> object:
        if isinstance(value, ProposalView):
            return value.proposal.old, value.proposal.new
        return value

    messages = [
        (m.seq, m.at, getattr(m, "text", None), [normal(p) for p in getattr(m, "parts", ())])
        for m in conversation.messages
    ]
    changes = [change.model_copy(update={"edit_id": None}) for change in conversation.changes]
    usage = conversation.usage.model_copy(update={"cost_micro_usd": 0})
    agent = conversation.agent and conversation.agent.model_copy(update={"session_id": SOURCE})
    return conversation.model_copy(
        update={
            "session": None,
            "agent": agent,
            "messages": messages,
            "changes": changes,
            "usage": usage,
            "last_seq": 0,
        }
    )


async def test_copy_has_the_same_events_and_the_next_request_the_same_bytes(folder: Path):
    place = EngineSetup(
        folder, "one", turn(Call("look", {"path": "a"})), "two", "three", "three again"
    )
    place.store.add("source")
    await place.say("first")
    await place.say("second")
    fork = await place.fork()
    source = place.events()

    await place.say("third")
    await place.say("third", fork.id)

    there, here = place.provider.requests[-2:]
    assert there.messages == here.messages
    assert (there.system, there.tools) == (here.system, here.tools)
    assert there.cache_key == here.cache_key == SOURCE
    copies = place.events(fork.id)[1 : len(source)]
    assert [(e.seq, e.type, e.at, e.turn_id) for e in copies] == [
        (e.seq, e.type, e.at, e.turn_id) for e in source[1:]
    ]
    assert {e.session_id for e in copies} == {fork.id}
    check_log(place.events(fork.id))
    check_contexts(place.events(fork.id), place.store.blobs)


async def test_copy_is_a_session_of_its_own(folder: Path):
    place = EngineSetup(folder, "one", "two")
    place.store.add("source", title="Plot", mode="bypass", model="m1")
    await place.say("first")
    before = place.events()

    fork = await place.fork()

    assert place.events() == before
    assert (fork.title, fork.mode, fork.status, fork.model) == ("Plot (fork)", "ask", "idle", "m1")
    assert (fork.message_count, fork.cost_micro_usd) == (1, 0)
    assert place.source.cost_micro_usd
    created = place.events(fork.id)[0]
    assert isinstance(created, ev.SessionCreate)
    assert created.origin == ev.ForkOrigin(session_id=SOURCE, seq=len(before), root=SOURCE)
    assert place.store.sessions.get(fork.id) == fork
    await place.say("second", fork.id)
    assert place.events() == before


async def test_pages_hear_of_the_copy_once_it_is_whole(folder: Path):
    place = EngineSetup(folder, "one")
    place.store.add("source")
    await place.say("first")
    place.store.published.events.clear()

    fork = await place.fork()

    heard = [logged.event for logged in place.store.published.events]
    assert [(event.type, event.session_id) for event in heard] == [
        ("session-create", fork.id),
        ("session-update", fork.id),
    ]


async def test_fork_of_a_fork_finds_the_first_ones_prompt_cache(folder: Path):
    place = EngineSetup(folder, "one", "two")
    place.store.add("source", title="Plot")
    await place.say("first")
    fork = await place.fork()
    again = await place.forks.fork(fork, ForkSession())

    assert again.title == "Plot (fork 2)"
    created = place.events(again.id)[0]
    assert isinstance(created, ev.SessionCreate)
    assert created.origin is not None
    assert (created.origin.session_id, created.origin.root) == (fork.id, SOURCE)
    await place.say("second", again.id)
    assert place.provider.requests[-1].cache_key == SOURCE


async def test_fork_at_a_message_ends_with_it_and_may_run_it(folder: Path):
    place = EngineSetup(folder, "one", "two", "other two")
    place.store.add("source")
    await place.say("first")
    await place.say("second")

    fork = await place.fork(place.seq_of(ev.MessageAdd))
    assert [m.text for m in reduce_events(place.events(fork.id)).messages if m.role == "user"] == [
        "first",
        "second",
    ]

    await place.say("second", fork.id)
    assert place.provider.requests[-1].messages == place.provider.requests[-2].messages


async def test_fork_within_a_turn_is_refused_and_says_where_it_may_be(folder: Path):
    place = EngineSetup(folder, turn(Call("look", {"path": "a"})), "one")
    place.store.add("source")
    await place.say("first")

    with pytest.raises(InvalidRequest) as raised:
        await place.fork(place.seq_of(ev.ToolCall))
    hint = raised.value.info.hint or ""
    assert f"event {place.seq_of(ev.MessageAdd)}" in hint
    with pytest.raises(InvalidRequest):
        await place.fork(len(place.events()) + 1)
    assert [s.id for s in place.store.sessions.page(_ALL, None, 10).sessions] == [SOURCE]


async def test_running_source_is_forked_up_to_its_last_settled_point(folder: Path):
    gate = Gate()
    place = EngineSetup(folder, "one", turn(gate, Say("two")))
    place.store.add("source")
    await place.say("first")
    end = place.seq_of(ev.TurnEnd)
    await place.engine.send(SOURCE, SendMessage(id=MessageId("m"), text="second"))
    await gate.reached.wait()

    settled = await place.fork()
    at_message = await place.fork(place.seq_of(ev.MessageAdd))
    with pytest.raises(Conflict) as raised:
        await place.fork(place.seq_of(ev.StepStart))

    assert raised.value.info.code == "turn_running"
    assert [e.type for e in place.events(settled.id)][-2:] == ["turn-end", "session-update"]
    assert len(place.events(settled.id)) == end + 1
    assert place.events(at_message.id)[-2].type == "message-add"
    assert place.engine.is_running(SOURCE)
    gate.open.set()
    await place.engine.settled(SOURCE)
    assert place.source.status == "idle"


async def test_steered_message_of_the_past_closes_its_turn(folder: Path):
    gate = Gate()
    place = EngineSetup(
        folder,
        turn(Call("look", {"path": "a"})),
        turn(gate, Call("look", {"path": "b"})),
        "done",
        "next",
    )
    place.store.add("source")
    await place.engine.send(SOURCE, SendMessage(id=MessageId("go"), text="go"))
    await gate.reached.wait()
    await place.engine.send(SOURCE, SendMessage(id=MessageId("steer"), text="steer"))
    gate.open.set()
    await place.engine.settled(SOURCE)

    fork = await place.fork(place.seq_of(ev.MessageUpdate))

    ends = [e for e in place.events(fork.id) if isinstance(e, ev.TurnEnd)]
    assert [end.exit for end in ends] == ["interrupted"]
    check_log(place.events(fork.id))
    await place.say("more", fork.id)
    check_contexts(place.events(fork.id), place.store.blobs)


async def test_interrupted_source_with_a_waiting_approval_is_closed_in_the_copy(folder: Path):
    place = EngineSetup(folder, turn(Call("run_it", {"path": "a"}, "c1")), "next")
    place.store.add("source")
    await place.say("go")
    assert place.source.status == "waiting"
    with pytest.raises(Conflict):
        await place.fork(len(place.events()))
    await place.engine.stop()

    fork = await place.fork()

    results = [e for e in place.events(fork.id) if isinstance(e, ev.ToolResult)]
    assert [(e.call_id, e.status) for e in results] == [("c1", "cancelled")]
    conversation = reduce_events(place.events(fork.id))
    assert conversation.pending_call is None
    assert conversation.turn is not None
    assert conversation.turn.state == "ended"
    check_log(place.events(fork.id))
    assert place.store.sessions.needing_recovery() == [SOURCE]
    await place.say("next", fork.id)
    assert place.provider.requests[-1].messages


async def test_what_was_allowed_for_a_document_is_asked_again_in_the_copy(folder: Path):
    run = turn(Call("run_it", {"path": "a"}))
    place = EngineSetup(folder, run, "one", run, "two", run)
    place.store.add("source")
    await place.say("go")
    asked = [e for e in place.events() if isinstance(e, ev.ApprovalRequest)]
    answer = AnswerApproval(decision="allow", scope="document")
    await place.engine.responses.answer_approval(SOURCE, asked[0].call_id, answer)
    await place.engine.settled(SOURCE)
    fork = await place.fork()

    await place.say("again")
    assert place.source.status == "idle"
    await place.say("again", fork.id)

    assert place.store.sessions.get(fork.id).status == "waiting"


async def test_open_proposal_is_dismissed_in_the_copy_alone(folder: Path):
    place = EngineSetup(folder, "one")
    place.store.add("source")
    await place.say("first")
    proposal = build_proposal(SOURCE, "a.ipynb", "c1", "x", "y", name="p1")
    place.store.log.append(SOURCE, ev.ProposalAdd(call_id=None, proposal=proposal))

    fork = await place.fork()

    found = [e.event for e in place.store.log.find({"proposal-resolve"})]
    assert [(e.session_id, e.proposal_id, e.state, e.by) for e in found] == [  # type: ignore[union-attr]  # of that type
        (fork.id, copied_proposal_id(proposal.id, fork.id), "dismissed", "system")
    ]


async def test_shared_files_come_along(folder: Path):
    place = EngineSetup(folder, "one")
    place.store.add("source")
    await place.say("first")
    name = place.artifacts.put(SOURCE, "plot.png", b"png")
    for shared in (name, "gone.png"):
        card = ev.ArtifactShare(
            call_id=CallId("c"), name=shared, media_type="image/png", size=3, description=None
        )
        place.store.log.append(SOURCE, card)

    fork = await place.fork()

    assert place.artifacts.read(fork.id, name) == b"png"


async def test_fork_of_an_edited_conversation_goes_on_with_what_was_left(folder: Path):
    place = EngineSetup(folder, "one", "two", "new two", "three")
    place.store.add("source")
    await place.say("first")
    await place.say("second")
    edited = SendMessage(id=MessageId("e"), text="other", replaces=MessageId("second"))
    await place.engine.send(SOURCE, edited)
    await place.engine.settled(SOURCE)
    (branch,) = reduce_events(place.events()).branches

    left = await place.fork(branch.last_seq)
    now = await place.fork()

    assert [m.text for m in reduce_events(place.events(left.id)).messages if m.role == "user"] == [
        "first",
        "second",
    ]
    assert [m.text for m in reduce_events(place.events(now.id)).messages if m.role == "user"] == [
        "first",
        "other",
    ]
    assert place.store.sessions.get(now.id).message_count == 2
    assert build_request_content(place.events(now.id), place.store.blobs).messages == (
        build_request_content(place.events(), place.store.blobs).messages
    )
    await place.say("third", left.id)
    assert "other" not in str(place.provider.requests[-1].messages)


async def test_copy_that_a_crash_cut_off_is_never_seen_and_purged(folder: Path):
    place = EngineSetup(folder, "one")
    place.store.add("source")
    await place.say("first")
    copies = SqliteForks(
        place.store.database, place.store.log, place.store.published, place.store.clock
    )
    half = session("half")

    await copies.copy(half, ev.ForkOrigin(session_id=SOURCE, seq=4, root=SOURCE))

    assert [s.id for s in place.store.sessions.page(_ALL, None, 10).sessions] == [SOURCE]
    assert place.store.sessions.needing_recovery() == []
    assert half.id not in {e.event.session_id for e in place.store.log.find({"turn-start"})}


async def test_log_that_cannot_be_understood_is_not_forked(folder: Path):
    place = EngineSetup(folder, "one")
    place.store.add("source")
    await place.say("first")
    connection = place.store.database.open()
    rewrite_events(connection, "type = 'turn-start'", "{}")

    with pytest.raises(StateUnavailable) as raised:
        await place.fork()

    assert raised.value.info.code == "quarantined"
    assert [s.id for s in place.store.sessions.page(_ALL, None, 10).sessions] == [SOURCE]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Plot", "Plot (fork)"),
        ("Plot (fork)", "Plot (fork 2)"),
        ("Plot (fork 9)", "Plot (fork 10)"),
        ("", "(fork)"),
        ("(fork)", "(fork 2)"),
        ("a (fork) b", "a (fork) b (fork)"),
    ],
)
def test_title_says_that_it_is_a_fork(title: str, expected: str):
    assert fork_title(title) == expected


def _logs() -> Iterator[list[Event]]:
    for fixture in FIXTURES:
        content = json.loads(fixture.read_text(encoding="utf-8"))
        events = [event_adapter().validate_python(event) for event in content["events"]]
        if len({event.seq for event in events}) == len(events):
            named = (event for event in events[1:] if not isinstance(event, ev.ContextAdd))
            yield list(named)  # their contents are not in the fixtures


LOGS = list(_logs())


@contextmanager
def _place() -> Generator[EngineSetup]:
    with tempfile.TemporaryDirectory() as path:
        place = EngineSetup(Path(path) / ".shoulders")
        yield place
        place.store.crash()


@settings(max_examples=60, deadline=None)
@given(log=st.sampled_from(LOGS), data=st.data())
def test_fold_of_the_fork_is_the_fold_of_the_sources_prefix(log: list[Event], data: st.DataObject):
    asyncio.run(_check_fork(log, data))


async def _check_fork(log: list[Event], data: st.DataObject) -> None:
    with _place() as place:
        made = place.store.add("source")
        for event in log:
            place.store.log.append(SOURCE, _of_source(event, made))
        events = place.events()
        seq = data.draw(st.integers(1, len(events)))
        try:
            fork = await place.fork(seq)
        except InvalidRequest:
            assert reduce_events(events[:seq]).turn is not None
            return
        assert place.events() == events
        copy = place.events(fork.id)
        assert shown(reduce_events(copy[:seq])) == shown(reduce_events(events[:seq]))
        assert reduce_events(copy).pending_call is None
        assert reduce_events(copy).queued == ()
        assert build_request_content(copy[:seq], place.store.blobs) == build_request_content(
            events[:seq], place.store.blobs
        )
        assert place.store.sessions.needing_recovery() in ([], [SOURCE])
        ids = {e.proposal.id for e in copy if isinstance(e, ev.ProposalAdd)}
        assert not ids & {e.proposal.id for e in events if isinstance(e, ev.ProposalAdd)}


def _of_source(event: Event, made: Session) -> Event:
    if not isinstance(event, ev.SessionUpdate):
        return event
    session = made.model_copy(update={"status": event.session.status})
    return event.model_copy(update={"session": session})
