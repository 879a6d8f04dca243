"""A key set through the API: used, never readable, in no file but its own."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from traitlets.config import Config

from jupyter_ai_shoulders.core.redaction.redactor import MASK
from tests.server.client import Api
from tests.server.conftest import MODEL, OpenPage
from tests.simulator import (
    Failure,
    Reasoning,
    Simulator,
    Text,
    ToolUse,
    reply,
)
from tests.support.secret_scanner import CANARY, find_leaks


@pytest.fixture
def upstream(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[Simulator]:
    """A provider whose key is the canary."""
    made = Simulator(key=CANARY)
    jp_asyncio_loop.run_until_complete(made.start())
    yield made
    jp_asyncio_loop.run_until_complete(made.stop())


@pytest.fixture
def jp_server_config(jp_server_config: Config, monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    return jp_server_config


async def test_a_key_of_the_api_is_nowhere_but_in_its_file(
    api: Api,
    upstream: Simulator,
    *,
    open_page: OpenPage,
    jp_root_dir: Path,
    isolated_home: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    said = f"Your key is {CANARY}, {quote(CANARY)}."
    upstream.script(
        reply(failure=Failure(status=401, message=f"Incorrect key {CANARY}")),
        reply(failure=Failure(status=400, message=f"Odd {CANARY}", headers={"x-key": CANARY})),
        reply(Reasoning(text=said), Text(text=said, split=2)),
        reply(Text(text=said, split="whole"), ToolUse(name="nothing", arguments={"key": CANARY})),
        reply(Text(text=said, split=5)),
    )
    upstream.default("Well.")
    page = await open_page()
    page.hello()
    answers = [await api.put("providers/anthropic/key", {"key": CANARY})]
    assert answers[0].body["key_set"] is True
    session = await api.new_session(model=MODEL)
    for number in range(4):
        await api.run(session, "What is my key?", f"m{number}")
    session_events = await api.events(session)
    paths = ("models", "status", "sessions", f"sessions/{session}", "providers")
    answers += [await api.get(path) for path in paths]
    answers.append(await api.post("providers/anthropic/test"))
    answers.append(await api.get(f"sessions/{session}/events", limit=5000))
    seen = json.dumps([[answer.body, answer.headers] for answer in answers])
    assert CANARY not in seen
    assert CANARY not in json.dumps(session_events)
    assert MASK in json.dumps(session_events)
    assert CANARY not in caplog.text
    assert [record.refusal for record in upstream.requests if record.refusal] == []
    assert find_leaks(jp_root_dir.parent, [CANARY]) == []
    assert find_leaks(isolated_home, [CANARY]) == []
    assert CANARY in key_file(jp_root_dir.parent)


def key_file(home: Path) -> str:
    (found,) = home.rglob("keys.env")
    return found.read_text()


def test_planted_keys_are_found(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "server.log").write_text(f"x-api-key: {CANARY}\n")
    (tmp_path / "address").write_text(f"?key={quote(CANARY)}")
    (tmp_path / "basic").write_bytes(b"Basic " + base64.b64encode(CANARY.encode()))
    (tmp_path / "blob").write_bytes(zlib.compress(CANARY.encode()))
    (tmp_path / "keys.env").write_text(f"KEY={CANARY}")
    database = sqlite3.connect(tmp_path / "log.db", isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA wal_autocheckpoint=0")
    database.execute("CREATE TABLE t (text TEXT)")
    database.execute("INSERT INTO t VALUES (?)", (f"It is {CANARY}.",))
    found = {leak.partition(":")[0] for leak in find_leaks(tmp_path)}
    assert found == {"deep/server.log", "address", "basic", "blob", "log.db-wal"}
    database.close()
    for path in tmp_path.rglob("*"):
        if path.is_file():
            path.unlink()
