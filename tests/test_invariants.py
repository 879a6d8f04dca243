"""Each invariant detects its violation, and nothing in a valid history."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from jupyter_ai_shoulders.storage.json_encoding import encode_model
from jupyter_ai_shoulders.testing.scripted_provider import Call, turn
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    ModelMessage,
    TextPart,
    ToolCallPart,
    UserMessage,
)
from tests.engine.engine_harness import make_engine
from tests.simulator_process import notebook
from tests.support import invariants
from tests.support.invariants import INVARIANTS, Evidence, Seen, violations


class ModelRequestLike(NamedTuple):
    """The checked part of a request."""

    messages: Sequence[ModelMessage]


SECRET = "sk-planted-and-secret"


async def sound(tmp_path: Path) -> Evidence:
    """Return the evidence of a turn with a call."""
    w = make_engine(turn(Call("read_it", {"path": "a"})), "Done.")
    await w.say()
    texts = [encode_model(event)[1] for event in w.events]
    book = tmp_path / "a.ipynb"
    book.write_text(notebook(("c1", "x = 1")))
    ledger = tmp_path / "usage.db"
    with closing(sqlite3.connect(ledger)) as connection, connection:
        connection.execute("CREATE TABLE calls (cost_micro_usd INTEGER)")
        connection.execute("INSERT INTO calls VALUES (60), (60)")
    return Evidence(
        logs={"s1": texts},
        seen=[Seen("s1", 1, texts[0]), Seen("s1", 2, texts[1])],
        accepted=[("s1", "msg1")],
        effects=["run 1", "run 2"],
        originals={book: ()},
        accept_seconds={"s1": 0.1},
        blobs=w.store.blobs,
        root=tmp_path,
        secrets=(SECRET,),
        ledger=ledger,
        requests=2,
        limit_micro_usd=100,
        dearest_micro_usd=60,
        typed=["x = 1"],
        kept=["x = 1"],
    )


async def test_nothing_is_found_in_a_sound_history(tmp_path: Path) -> None:
    assert violations(await sound(tmp_path)) == []


def _without_result(evidence: Evidence) -> Evidence:
    kept = [text for text in evidence.logs["s1"] if json.loads(text)["type"] != "tool-result"]
    renumbered = [json.dumps({**json.loads(t), "seq": n}) for n, t in enumerate(kept, 1)]
    return replace(evidence, logs={"s1": renumbered}, seen=(), blobs=None)


def _with_second_message(evidence: Evidence) -> Evidence:
    log = evidence.logs["s1"]
    again = next(text for text in log if json.loads(text)["type"] == "message-add")
    return replace(evidence, logs={"s1": [*log, again]}, blobs=None)


def _with_broken_notebook(evidence: Evidence) -> Evidence:
    (book,) = evidence.originals
    book.write_bytes(book.read_bytes()[:-20])
    return evidence


def _with_other_bytes(evidence: Evidence) -> Evidence:
    (book,) = evidence.originals
    other = book.with_name("data.csv")
    other.write_text("half a fi")
    return replace(evidence, originals={other: (b"old", b"new")})


def _with_secret(evidence: Evidence) -> Evidence:
    assert evidence.root is not None
    (evidence.root / "server.log").write_text(f"the key is {SECRET}")
    return evidence


PLANTED: dict[str, tuple[str, Callable[[Evidence], Evidence]]] = {
    "an event that was seen is not in the log": (
        "I1",
        lambda e: replace(e, seen=[Seen("s1", 1, "{}")]),
    ),
    "an event that was seen is of no session": (
        "I1",
        lambda e: replace(e, seen=[Seen("s2", 1, "{}")]),
    ),
    "an accepted message is gone": ("I2", lambda e: replace(e, accepted=[("s1", "other")])),
    "a message is there twice": ("I2", _with_second_message),
    "a call has no result": ("I3", _without_result),
    "an effect happened twice": ("I4", lambda e: replace(e, effects=["run 1", "run 1"])),
    "a notebook is cut off": ("I5", _with_broken_notebook),
    "a file is neither the old nor the new one": ("I5", _with_other_bytes),
    "a message was accepted late": ("I6", lambda e: replace(e, accept_seconds={"s1": 5.1})),
    "a refusal has no reason": ("I6", lambda e: replace(e, accept_seconds={"s1": ""})),
    "a provider refused a request": ("I7", lambda e: replace(e, refusals=["roles must alternate"])),
    "a key is in a file": ("I8", _with_secret),
    "a request is not in the ledger": ("I9", lambda e: replace(e, requests=3)),
    "a limit is passed": ("I9", lambda e: replace(e, dearest_micro_usd=10)),
    "what was typed is gone": ("I10", lambda e: replace(e, kept=["x = 2"])),
}


@pytest.mark.parametrize("what", PLANTED)
async def test_a_planted_violation_is_found(tmp_path: Path, what: str) -> None:
    invariant, plant = PLANTED[what]
    evidence = plant(await sound(tmp_path))

    found = list(INVARIANTS[invariant](evidence))

    assert found, what


def test_every_invariant_has_a_planted_violation() -> None:
    assert {invariant for invariant, _ in PLANTED.values()} == set(INVARIANTS)


async def test_a_history_with_a_call_without_its_result_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine makes a valid history of any log, so another one is built here."""
    call = ToolCallPart(call_id=CallId("c1"), tool="read_it", arguments={})
    said = UserMessage(parts=(TextPart(text="Go"),))
    broken = ModelRequestLike((said, AssistantMessage(parts=(call,)), said))

    def build(events: object, blobs: object) -> ModelRequestLike:
        return broken

    monkeypatch.setattr(invariants, "build_request_content", build)

    assert list(INVARIANTS["I7"](await sound(tmp_path)))
