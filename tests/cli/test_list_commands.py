"""``sessions``, ``export``, ``usage``, ``models`` and ``keys``, with a server and without one."""

from __future__ import annotations

import errno
import io
import os
import sys
from pathlib import Path

import pytest

from jupyter_ai_shoulders.cli.main import main
from tests.cli.conftest import Terminal
from tests.simulator_process import says

KEY = "sk-ant-typed-by-hand-0123456789"


def test_a_run_is_listed_exported_and_counted(terminal: Terminal) -> None:
    terminal.plays(says("**Forty-two.**"))
    terminal.says("run", "What is the answer?")

    listed = terminal.says("sessions", "--kind", "run", "--json").json["sessions"]
    table = terminal.says("sessions", "--kind", "run", "--limit", "1")
    exported = terminal.says("export", listed[0]["id"])
    events = terminal.says("export", listed[0]["id"], "--format", "jsonl")
    usage = terminal.says("usage", "--json").json
    counted = terminal.says("usage")

    assert listed[0]["title"] == "What is the answer?"
    assert (listed[0]["kind"], listed[0]["source"]) == ("run", "cli")
    assert table.out.splitlines()[0].split()[:3] == ["id", "kind", "status"]
    assert "What is the answer?" in table.out.splitlines()[1]
    assert "**Forty-two.**" in exported.out
    assert '"turn-end"' in events.out
    assert usage["total"]["calls"] >= 1
    report = terminal.says("report", "--days", "1", "--json").json
    assert report["turns"]["answered"] >= 1
    assert counted.code == 0
    assert "all" in counted.out


def test_the_workspace_is_searched(terminal: Terminal) -> None:
    (terminal.root / "searched.py").write_text("def unusual_word(): ...\n")

    said = terminal.says("search", "unusual", "word", "--kind", "code")
    listed = terminal.says("search", "--json", "unusual").json
    nothing = terminal.says("search", "nowhere", "--path", "searched.py")

    assert said.out == "searched.py:1  unusual_word\n    def unusual_word(): ...\n"
    assert [match["path"] for match in listed["matches"]] == ["searched.py"]
    assert (nothing.code, nothing.out) == (0, "Nothing was found.\n")


def test_an_unknown_conversation_is_a_wrong_use(terminal: Terminal) -> None:
    said = terminal.says("export", "ses_nothing")

    assert (said.code, said.out) == (2, "")
    assert "ses_nothing" in said.err


@pytest.mark.parametrize("limit", ["0", "-1", "501", "many"])
def test_a_limit_that_lists_nothing_is_a_wrong_use(alone: Terminal, limit: str) -> None:
    said = alone.says("sessions", f"--limit={limit}")

    assert said.code == 2
    assert f"'{limit}' is not a number from 1 to 500" in said.err


def test_models_are_listed(terminal: Terminal) -> None:
    said = terminal.says("models")
    listed = terminal.says("models", "--json").json

    assert said.code == 0
    assert [line.split()[-1] for line in said.out.splitlines() if "simulated" in line] == ["ready"]
    assert "simulated" in {model["id"] for model in listed["models"]}


def test_a_key_is_piped_in_and_never_shown(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, isolated_home: Path
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{KEY}\n"))
    stored = terminal.says("keys", "set", "anthropic")
    listed = terminal.says("keys")
    removed = terminal.says("keys", "remove", "anthropic")

    assert (stored.code, stored.out) == (0, "anthropic: set, ends in 6789\n")
    assert any(
        line.startswith("anthropic  ") and "6789" in line for line in listed.out.splitlines()
    )
    assert removed.out == "anthropic: not set\n"
    for said in (stored, listed, removed):
        assert KEY not in said.out + said.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["set"], "name a provider"),
        (["set", "nobody"], "no provider nobody; there are anthropic"),
        (["set", "anthropic"], "No key was given"),
        (["forget"], "invalid choice"),
    ],
)
def test_wrong_uses_of_keys_are_named(
    alone: Terminal, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))

    said = alone.says("keys", *arguments)

    assert said.code == 2
    assert message in said.err


def test_a_provider_that_does_not_work_is_said(alone: Terminal) -> None:
    alone.plays({"parts": [], "failure": {"status": 401}})

    said = alone.says("keys", "test", "simulator")

    assert (said.code, said.out) == (1, "")
    assert "simulator: " in said.err


def test_the_evaluation_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["eval", "--list"])

    assert code == 0
    assert len(capsys.readouterr().out.splitlines()) > 10


@pytest.mark.parametrize("end", ["md", "jsonl"])
def test_an_export_to_a_file_replaces_it_whole_or_leaves_it(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    terminal.plays(says("**Forty-two.**"))
    terminal.says("run", "Export me.")
    session = terminal.says("sessions", "--text", "Export me.", "--json").json["sessions"][0]["id"]
    form = () if end == "md" else ("--format", end)
    printed = terminal.says("export", session, *form)
    folder = terminal.root / f"exports-{end}"
    folder.mkdir()
    path = folder / f"told.{end}"
    path.write_text("old")
    write = os.write

    def full(descriptor: int, content: bytes) -> int:
        """Write a little, then fail, as on a full disk; only for files in that folder."""
        facts = os.fstat(descriptor)
        if not any(os.path.samestat(facts, each.stat()) for each in folder.iterdir()):
            return write(descriptor, content)
        if facts.st_size == 0:
            return write(descriptor, content[:4])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        cut = terminal.says("export", session, "-o", str(path))
        old = path.read_text()
    written = terminal.says("export", session, "-o", str(path))
    nowhere = terminal.says("export", session, "-o", str(folder / "none" / "told.md"))

    assert (cut.code, cut.out, old) == (1, "", "old")
    assert f"{path} could not be written: No space is left" in cut.err
    assert (written.code, written.out) == (0, "")
    assert path.read_text() == printed.out
    assert nowhere.code == 1
    assert "could not be written" in nowhere.err
    assert [each.name for each in folder.iterdir()] == [path.name]
