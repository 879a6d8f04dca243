"""The conversation reducer, on the fixtures shared with the page's reducer."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.wire.conversation.reducer import EMPTY, reduce_event, reduce_events
from jupyter_ai_shoulders.wire.conversation.views import Conversation
from jupyter_ai_shoulders.wire.events import Event, event_adapter

FIXTURES = sorted((Path(__file__).parent / "fixtures" / "reducer").glob("*.json"))


def _load(fixture: Path) -> tuple[list[Event], Conversation]:
    content = json.loads(fixture.read_text(encoding="utf-8"))
    events = [event_adapter().validate_python(event) for event in content["events"]]
    return events, Conversation.model_validate(content["expected"])


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_fold_gives_the_expected_conversation(fixture: Path) -> None:
    events, expected = _load(fixture)
    assert reduce_events(events) == expected


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_fixture_events_carry_every_field_the_schema_requires(fixture: Path) -> None:
    content = json.loads(fixture.read_text(encoding="utf-8"))
    events, expected = _load(fixture)
    assert content["events"] == [json.loads(event.model_dump_json()) for event in events]
    assert content["expected"] == json.loads(expected.model_dump_json())


def test_fixtures_cover_every_event_type() -> None:
    seen = {event.type for fixture in FIXTURES for event in _load(fixture)[0]}
    known = {
        value
        for definition in event_adapter().json_schema()["$defs"].values()
        if "const" in (kind := definition.get("properties", {}).get("type", {}))
        and "seq" in definition["properties"]
        for value in [kind["const"]]
    }
    assert seen == known


@given(fixture=st.sampled_from(FIXTURES), data=st.data())
def test_fold_resumed_from_a_cursor_with_overlap_equals_the_whole(
    fixture: Path, data: st.DataObject
) -> None:
    events, expected = _load(fixture)
    cut = data.draw(st.integers(0, len(events)))
    overlap = data.draw(st.integers(0, cut))
    assert reduce_events(events[overlap:], reduce_events(events[:cut])) == expected


def test_folding_leaves_the_conversation_before_as_it_was() -> None:
    events, _ = _load(FIXTURES[0])
    before = reduce_events(events[:3])
    copy = before.model_copy(deep=True)
    for event in events[3:]:
        reduce_event(before, event)
    assert before == copy
    assert EMPTY.messages == ()
