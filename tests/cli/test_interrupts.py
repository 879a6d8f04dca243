"""Ctrl+C during indivisible operations, and the demo, which must not replace a model."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest
from pydantic import BaseModel

from jupyter_ai_shoulders.cli import backend_selection as cli_place
from jupyter_ai_shoulders.cli.chat.in_process_chat import InProcessChat
from jupyter_ai_shoulders.cli.main import main
from jupyter_ai_shoulders.client import Client
from jupyter_ai_shoulders.client.connection import Connection
from jupyter_ai_shoulders.client.interrupts import defer_interrupt
from jupyter_ai_shoulders.host.build import Host
from jupyter_ai_shoulders.wire.api.commands import SendMessage
from tests.cli.conftest import Terminal
from tests.simulator_process import says

REFUSED: Mapping[str, Any] = {
    "parts": [],
    "failure": {"status": 401, "message": "invalid x-api-key"},
}


@pytest.fixture(autouse=True)
def hearing() -> Iterator[None]:
    """Receive Ctrl+C even if the tests were started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_waits_for_the_end_of_the_block() -> None:
    with defer_interrupt() as held:
        press_ctrl_c()
        told = held.received

    assert told
    with pytest.raises(KeyboardInterrupt):
        press_ctrl_c()


def test_nothing_is_held_where_nothing_interrupts() -> None:
    """As in a subshell of a kernel, which runs in a thread."""

    def hold() -> bool:
        with defer_interrupt() as held:
            return held.received

    with ThreadPoolExecutor(1) as thread:
        assert not thread.submit(hold).result()


def test_a_second_interrupt_does_not_wait() -> None:
    with defer_interrupt():
        press_ctrl_c()
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()


def test_ignored_interrupts_stay_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    with defer_interrupt() as held:
        press_ctrl_c()

    assert not held.received
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


class Engine:
    """The part of an engine that starting a chat needs."""

    def __init__(self) -> None:
        self.models = self

    async def discover(self, *, remote: bool) -> None:
        assert not remote


def test_an_engine_ends_whose_start_was_interrupted() -> None:
    interrupted, ended = threading.Event(), threading.Event()

    async def serve(work: Callable[[Host], Awaitable[None]]) -> None:
        press_ctrl_c()
        await asyncio.to_thread(interrupted.wait)
        await work(cast("Host", Engine()))
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        InProcessChat(serve, {})
    interrupted.set()

    assert ended.wait(100)


def test_130_a_turn_is_cancelled_whose_message_was_on_its_way(
    attached: Terminal, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    attached.plays(says("word " * 50, ending="stall", ending_after=20))
    send = Connection.post

    def interrupted(self: Connection, path: str, body: Any, model: type[BaseModel]) -> Any:
        if isinstance(body, SendMessage):
            press_ctrl_c()  # the server accepts the message all the same
        return send(self, path, body, model)

    monkeypatch.setattr(Connection, "post", interrupted)
    said = attached.says("run", "Count.", "--json")

    last = json.loads(said.out.splitlines()[-1])
    assert said.code == 130
    assert (last["type"], last["exit"]) == ("turn-end", "cancelled")
    assert client.session(last["session_id"]).status == "idle"


def test_130_nothing_is_sent_after_an_interrupt(
    attached: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    attached.plays(says("Never."))

    def interrupted(_: Client, **__: object) -> None:
        press_ctrl_c()
        press_ctrl_c()  # the first one is deferred until the message is sent

    monkeypatch.setattr(Client, "new_session", interrupted)

    assert main(["run", "Hi"]) == 130
    assert attached.upstream.requests() == []


def test_1_the_demo_does_not_stand_in_for_a_model_whose_key_is_refused(
    attached: Terminal, client: Client
) -> None:
    default = client.models().default
    attached.plays(REFUSED, REFUSED, says("Never."))
    refused = attached.says("run", "Hi")
    models = client.models()
    again = attached.says("run", "Hi")
    attached.plays(says("Back."))
    back = attached.says("run", "Hi", "--model", "simulated")

    assert refused.code == 1
    assert "key was not accepted" in refused.err
    assert default in {"simulated", "priced"}  # earlier tests of the server decide which one
    assert models.default == default
    assert (again.code, again.out) == (1, "")
    assert "key was not accepted" in again.err
    assert (back.code, back.out) == (0, "Back.\n")


def test_0_the_demo_answers_where_it_is_asked_for_or_nothing_was_set_up(
    alone: Terminal, tmp_path: Path
) -> None:
    asked = alone.says("run", "Hi", "--model", "demo")
    shutil.rmtree(alone.root / ".shoulders")
    bare = alone.says("run", "Hi")

    assert asked.code == 0
    assert bare.code == 0
    assert "not an AI model" in asked.err
    assert "not an AI model" in bare.err


class Pressing(MetaPathFinder):
    """Presses Ctrl+C as a module is imported."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> None:
        if fullname == "jupyter_ai_shoulders.cli.dispatch":
            press_ctrl_c()


def test_130_an_interrupt_while_modules_are_imported_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "jupyter_ai_shoulders.cli.dispatch", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Pressing(), *sys.meta_path])

    code = main(["chat"])

    assert code == 130
    assert capsys.readouterr() == ("", "\njupyter shoulders: stopped\n")


def test_130_an_interrupt_while_the_chat_looks_for_its_engine_is_one_line(
    monkeypatch: pytest.MonkeyPatch, alone: Terminal
) -> None:
    def interrupted() -> Sequence[object]:
        press_ctrl_c()
        return ()

    monkeypatch.setattr(cli_place, "running_servers", interrupted)

    said = alone.says("chat")

    assert (said.code, said.out, said.err) == (130, "", "\njupyter shoulders: stopped\n")
