"""What grows with the number of events, conversations and messages, each at three sizes.

A cold conversation is one that is not in memory: its first message waits until the log is folded
into state, messages and tables. The chat is mostly pieces of text; the steps call a tool with 2 KB
of results. The floor reads the same rows and parses them as JSON. A search is for a text that one
conversation has, with its index complete; the floor counts the messages. Memory is that of a server
process that held so many conversations over HTTP with one page connected, beside its memory after
the first.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from itertools import count, pairwise
from pathlib import Path

import psutil

from jupyter_ai_shoulders.host.state.store import StateStore
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.testing.scripted_provider import ScriptedProvider
from jupyter_ai_shoulders.wire.api.commands import SendMessage
from jupyter_ai_shoulders.wire.events import Event, MessageAdd, parse_event
from jupyter_ai_shoulders.wire.ids import MessageId, SessionId
from tests.bench.figures import Figure, Goal, single, spread, timed
from tests.bench.groups.agent_loop import RESULT, make_bench_engine
from tests.bench.prepared_store import add_session, open_store
from tests.bench.server_and_provider import Server, serving
from tests.bench.timing import Sample, Stopwatch, Way, interleaved
from tests.simulator_process import says

ROUNDS = 7
SIZES = (100, 1_000, 10_000)
CONVERSATIONS = (200, 600, 1_200)
PIECES = 50
MB = 1 << 20


def measure() -> list[Figure]:
    """Measure all three."""
    return [*asyncio.run(_cold()), *asyncio.run(_searches()), *asyncio.run(_memory())]


# cold conversations


async def _cold() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        async with open_store(Path(folder, "state")) as store:
            ways: dict[str, Way] = {}
            for kind in ("chat", "tool steps"):
                for size in SIZES:
                    session = add_session(store, f"{kind}-{size}")
                    _fill(store, session, kind, size)
                    ways[f"{kind} {size}"] = _first_message(store, session)
                    ways[f"{kind} {size} floor"] = _parsed_rows(store, session)
            gc.freeze()  # as the server does after its start
            try:
                taken = await interleaved(ROUNDS, ways)
            finally:
                gc.unfreeze()
    return [
        Figure(
            f"first message, {size} events of {kind}, CPU",
            "ms",
            spread([sample.cpu for sample in taken[f"{kind} {size}"]]),
            spread([sample.cpu for sample in taken[f"{kind} {size} floor"]]),
            Goal("at most", 120) if size == SIZES[-1] else None,
        )
        for kind in ("chat", "tool steps")
        for size in SIZES
    ]


def _first_message(store: StateStore, session: SessionId) -> Way:
    numbers = count()

    async def run() -> Sample:
        engine = make_bench_engine(store, ScriptedProvider("Done."))
        message = SendMessage(id=MessageId(f"new-{next(numbers)}"), text="Go on.", mode="ask")
        watch = Stopwatch()
        await engine.send(session, message)
        await engine.settled(session)
        taken = watch.sample()
        await engine.stop()
        return taken

    return run


def _parsed_rows(store: StateStore, session: SessionId) -> Way:
    async def run() -> Sample:
        watch = Stopwatch()
        for text in store.log.texts(session):
            json.loads(text.text)
        return watch.sample()

    return run


def _fill(store: StateStore, session: SessionId, kind: str, size: int) -> None:
    for number in count():
        for fields in _chat(number) if kind == "chat" else _steps(number):
            store.log.append(session, _event(f"t{number}", fields))
        if store.log.last_seq(session) >= size:
            return


def _event(turn: str, fields: dict[str, object]) -> Event:
    return parse_event(json.dumps({"turn_id": turn, **fields}))


def _chat(number: int) -> Iterator[dict[str, object]]:
    yield from _begun(number)
    yield from _step(1, _said(f"p{number}", PIECES))
    yield {"type": "turn-end", "exit": "final_response"}


def _steps(number: int) -> Iterator[dict[str, object]]:
    yield from _begun(number)
    for step in range(1, 31):
        yield from _step(step, _said(f"p{number}-{step}", 2))
        yield from _called(f"c{number}-{step}", step)
    yield {"type": "turn-end", "exit": "final_response"}


def _begun(number: int) -> Iterator[dict[str, object]]:
    message = f"m{number}"
    yield {"type": "message-add", "message_id": message, "text": "Look at the file."}
    yield {
        "type": "turn-start",
        "message_id": message,
        "model": "m1",
        "provider": "scripted",
        "mode": "ask",
        "step_limit": 50,
    }


def _step(step: int, said: Iterator[dict[str, object]]) -> Iterator[dict[str, object]]:
    yield {"type": "step-start", "step": step, "limit": 50, "tokens_used": 900, "window": 100_000}
    yield from said
    yield {
        "type": "usage-update",
        "model": "m1",
        "usage": {"input_tokens": 900, "output_tokens": PIECES},
        "cost_micro_usd": 3,
        "month_micro_usd": 3,
        "month_limit_micro_usd": None,
    }


def _said(part: str, pieces: int) -> Iterator[dict[str, object]]:
    yield {"type": "text-start", "part_id": part}
    for number in range(pieces):
        yield {"type": "text-delta", "part_id": part, "text": f" words of an answer {number}"}
    yield {"type": "text-end", "part_id": part}


def _called(call: str, step: int) -> Iterator[dict[str, object]]:
    named = {"call_id": call, "tool": "look"}
    arguments = {"path": "a.csv", "word": str(step)}
    shown = {
        "raw": None,
        "invalid": None,
        "risk": "read",
        "external": False,
        "title": "Look",
        "target": "a.csv",
    }
    yield {"type": "tool-call", **named, "arguments": arguments, **shown}
    yield {"type": "tool-start", **named}
    yield {
        "type": "tool-result",
        **named,
        "status": "ok",
        "result": {"ok": True, "kind": "text", "data": None},
        "content": [{"type": "text", "text": RESULT}],
        "duration_ms": 1,
    }


# searches


async def _searches() -> list[Figure]:
    figures: list[Figure] = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            async with open_store(Path(folder, "state")) as store:
                for number in range(size):
                    text = f"Plot the columns of table {number:05} and explain the outliers."
                    store.log.append(
                        add_session(store, f"{number}"),
                        MessageAdd(message_id=MessageId("m"), text=text),
                    )
                chosen = SessionFilter(text=f"table {size // 2:05}")
                store.sessions.page(chosen, None, 50)
                store.index.wait_until_complete()
                ways = {"search": _search(store, chosen), "count": _count(store)}
                taken = await interleaved(ROUNDS, ways, warm=3)
        goal = Goal("at most", 10) if size == SIZES[-1] else None
        name = f"search {size} conversations"
        figures.append(timed(name, taken["search"], taken["count"], goal))
    return figures


def _search(store: StateStore, chosen: SessionFilter) -> Way:
    async def run() -> Sample:
        watch = Stopwatch()
        found = store.sessions.page(chosen, None, 50).sessions
        taken = watch.sample()
        assert len(found) == 1
        return taken

    return run


def _count(store: StateStore) -> Way:
    database = store.directory.database

    async def run() -> Sample:
        with closing(sqlite3.connect(database)) as connection:
            watch = Stopwatch()
            connection.execute("SELECT count(*) FROM events WHERE type = 'message-add'").fetchone()
            return watch.sample()

    return run


# memory


async def _memory() -> list[Figure]:
    script = {"default": says("Certainly. Here is what I found in your data. " * 12)}
    async with serving(script) as (server, _), server.page() as _page:
        used: dict[int, float] = {}
        for before, size in pairwise((0, 1, *CONVERSATIONS)):
            await _converse(server, size - before)
            used[size] = psutil.Process(server.lab.pid).memory_info().rss / MB
    settled, *_, last = CONVERSATIONS
    return [
        *(
            Figure(f"memory after {size} conversations", "MB", single(used[size]), single(used[1]))
            for size in CONVERSATIONS
        ),
        Figure(
            f"memory from {settled} to {last} conversations",
            "MB",
            single(used[last] - used[settled]),
            goal=Goal("at most", 4),
        ),
    ]


async def _converse(server: Server, number: int) -> None:
    for _ in range(number):
        session, seq = await server.session()
        async with server.events(session, seq) as events:
            await server.send(session, "Look at the file.")
            async for line in events:
                if b'"type":"turn-end"' in line:
                    break
