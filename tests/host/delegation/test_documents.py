"""Documents of a task: small ones are named, long ones read in parts, with failures told."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.host.delegation.document_parts import (
    NotText,
    document_parts,
    numbered_lines,
)
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.testing.scripted_provider import Call, Fail, ScriptedTurn, turn
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.usage import TokenUsage
from tests.host.delegation.delegating_host import (
    PARENT,
    Scripts,
    delegating,
    delegating_host,
    first_words,
)

TASK = "Find every ERROR in the log."
READER = r"<part of="
MERGER = r"<notes>"
CHILD = "^Find every ERROR"
LINE = "2026-11-29 12:00:00 INFO request served in 12 ms by worker seven of nine\n"


def chunked(text: str, size: int) -> list[bytes]:
    data = text.encode()
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_lines_are_numbered_however_they_arrive(size: int) -> None:
    text = "one\r\ntwo é\n\nfour"
    assert list(numbered_lines(chunked(text, size))) == ["1: one", "2: two é", "3: ", "4: four"]


def test_bytes_of_no_text_are_refused() -> None:
    with pytest.raises(NotText):
        list(numbered_lines([b"a\0b"]))


@pytest.mark.parametrize("room", [1, 200, 1_000, 100_000])
def test_parts_hold_every_line_in_order_and_overlap(room: int) -> None:
    lines = list(numbered_lines([(LINE * 50).encode()]))
    parts = list(document_parts(lines, room))

    seen: list[str] = []
    for part in parts:
        held = part.text.split("\n")
        assert len(held) == part.last_line - part.first_line + 1
        assert held[0].startswith(f"{part.first_line}: ")
        assert len(held) == 1 or len(part.text) <= room
        seen += held[len(seen) - part.first_line + 1 :]
    assert seen == lines


def reading(request: ModelRequest) -> ScriptedTurn:
    """The cheap model: notes each line with ERROR, and fails where a line says so."""
    words = first_words(request)
    if "UNREADABLE" in words:
        return turn(Fail(ProviderError("The model hung up.", code="provider_error")))
    notes = [f"ERROR at {number}" for number in re.findall(r"(?m)^(\d+): [^\n]*ERROR", words)]
    usage = TokenUsage(input_tokens=1_000, output_tokens=10)
    return turn(Call("answer", {"notes": list(notes)}), usage=usage)


def scripts(summary: str = "Two errors [big.log:5000].") -> Scripts:
    return {
        READER: [reading],
        MERGER: [lambda _: turn(Call("answer", {"notes": ["merged"]}))],
        PARENT: [turn(delegating(TASK, documents=["big.log"])), "Done."],
        CHILD: [summary],
    }


def write_log(folder: Path, lines: int, **special: str) -> int:
    """Write ``big.log``, with special lines by number; return its bytes."""
    place = folder / "workspace" / "big.log"
    by_number = {int(name[1:]): text for name, text in special.items()}
    with place.open("w") as file:
        for number in range(1, lines + 1):
            file.write(by_number.get(number, LINE))
    return place.stat().st_size


async def test_a_long_log_becomes_notes_and_the_parent_gets_the_summary(tmp_path: Path) -> None:
    async with delegating_host(tmp_path, scripts()) as at:
        write_log(tmp_path, 10_000, n5000="ERROR one\n", n9000="ERROR two\n")
        await at.send()

        readers = at.model.of(READER)
        assert len(readers) == 5
        told = repr(at.model.of(CHILD)[0].messages[0])
        assert "ERROR at 5000" in told
        assert "ERROR at 9000" in told
        assert "notes on 5 parts" in told
        assert LINE.strip() not in told
        assert "<data id=" in told  # what was read is marked as data
        assert "[big.log:5000]" in at.told()
        progress = [each.text for each in at.events(ev.ToolProgress)]
        assert any("Reading big.log: " in text for text in progress)
        assert {each.account and each.account.session_id for each in readers} == {at.parent.id}
        (child,) = at.children()
        assert "big.log" in {each.label for each in at.host.engine.sources(child.id)}


async def test_parts_that_fail_are_told(tmp_path: Path) -> None:
    async with delegating_host(tmp_path, scripts("Some of it.")) as at:
        write_log(tmp_path, 10_000, n5000="UNREADABLE\n", n9000="ERROR two\n")
        await at.send()

        told = repr(at.model.of(CHILD)[0].messages[0])
        assert "ERROR at 9000" in told
        assert re.search(r"not read: lines \d+-\d+ \(The model hung up\)", at.told())


async def test_what_the_parent_may_not_read_is_not_given(tmp_path: Path) -> None:
    for name in (".env", "../outside.txt", "missing.txt"):
        folder = tmp_path / re.sub(r"\W", "_", name)
        folder.mkdir()
        script: Scripts = {
            PARENT: [turn(delegating(TASK, documents=[name])), "Done."],
            CHILD: ["Nothing."],
        }
        async with delegating_host(folder, script) as at:
            (folder / "workspace" / ".env").write_text("KEY=secret\n")
            await at.send()

            assert at.result().status == "error"
            assert not at.children()
            assert "secret" not in at.told()


async def test_small_documents_are_named_only(tmp_path: Path) -> None:
    script: Scripts = {
        PARENT: [turn(delegating(TASK, documents=["app.log"])), "Done."],
        CHILD: ["None [app.log:1-20]."],
    }
    async with delegating_host(tmp_path, script) as at:
        await at.send()

        told = repr(at.model.of(CHILD)[0].messages[0])
        assert "- app.log" in told
        assert "line 20" not in told


async def test_memory_stays_bounded_for_a_huge_log(tmp_path: Path) -> None:
    def forgetful(request: ModelRequest) -> ScriptedTurn:
        at.model.requests.clear()
        return reading(request)

    async with delegating_host(tmp_path, {**scripts(), READER: [forgetful]}) as at:
        size = write_log(tmp_path, 120_000)
        tracemalloc.start()
        try:
            await at.send()
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

        assert at.result().status == "ok"
        assert size > 8 << 20
        assert peak < size / 2
