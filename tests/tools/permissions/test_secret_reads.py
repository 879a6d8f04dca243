"""Files of keys: read once the user has allowed that very file, and never by a stored rule."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import PolicyRefusal
from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret
from jupyter_ai_shoulders.tools.base import CallSubject, Target
from jupyter_ai_shoulders.tools.permissions.grants import Grant, grant_for
from jupyter_ai_shoulders.tools.permissions.rule_matching import ToolRule
from jupyter_ai_shoulders.tools.permissions.rules import (
    Allow,
    Ask,
    Decision,
    Deny,
    PermissionRequest,
    Rules,
    decide,
)
from jupyter_ai_shoulders.wire.sessions import Mode
from tests.tools.file_conversation import FileConversation, open_file_conversation
from tests.tools.notebook_conversation import text_of

MODES: Sequence[Mode] = ("ask", "auto_edit", "plan", "bypass")


@pytest.fixture
def files(tmp_path: Path, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[FileConversation]:
    with open_file_conversation(tmp_path, jp_asyncio_loop) as made:
        made.here.write(".env", "A=1\nB=2\n")
        made.here.write("deploy/.ssh/id_rsa", "key\n")
        made.here.write(".shoulders/tools.json", "{}")
        yield made


def decided(
    subject: CallSubject,
    *grants: Grant,
    mode: Mode = "ask",
    rules: Rules | None = None,
    interactive: bool = True,
) -> Decision:
    question = PermissionRequest("read_file", "read", external=False, subject=subject)
    return decide(question, rules or Rules(), grants, mode=mode, interactive=interactive)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("path", [".env", "./.env", "deploy/.ssh/id_rsa"])
async def test_read_of_a_secret_asks_in_every_mode(files: FileConversation, path: str, mode: Mode):
    decision = decided(await files.subject("read_file", path), mode=mode)
    assert isinstance(decision, Ask)
    assert decision.scopes == ("once", "document")
    assert "keys or passwords" in decision.reason.text


async def test_what_was_allowed_is_shown_and_may_not_be_edited(files: FileConversation):
    result = await files.call("read_file", ".env", start_line=2)
    assert text_of(result) == 'File ".env"\n2: B=2'
    assert result.seen == ()
    with pytest.raises(PolicyRefusal):
        await files.call("edit_file", ".env", old_string="A", new_string="B")


async def test_answer_for_the_document_holds_for_that_file_alone(files: FileConversation):
    files.here.write("other.pem", "key")
    grant = grant_for("document", "read_file", {"path": "./.env"})
    assert grant is not None
    assert isinstance(decided(await files.subject("read_file", ".env"), grant), Allow)
    assert isinstance(decided(await files.subject("read_file", "other.pem"), grant), Ask)


async def test_nothing_but_the_file_itself_allows_it(files: FileConversation):
    subject = await files.subject("read_file", ".env")
    rules = Rules(rules=(ToolRule(action="allow", tool="read_file"),))
    assert isinstance(decided(subject, Grant("read_file"), rules=rules), Ask)
    denied = Rules(rules=(ToolRule(action="deny", tool="read_file"),))
    named = Grant("read_file", path=".env")
    assert isinstance(decided(subject, named, rules=denied), Deny)


async def test_where_nobody_can_be_asked_it_is_refused(files: FileConversation):
    decision = decided(await files.subject("read_file", ".env"), interactive=False)
    assert isinstance(decision, Deny)
    assert decision.code == "approval_required"


async def test_state_directory_and_folders_of_keys_stay_closed(files: FileConversation):
    for path in (".shoulders/tools.json", ".shoulders", "deploy/.ssh"):
        assert not (await files.subject("read_file", path)).reads_secret
        with pytest.raises(PolicyRefusal, match="keys or passwords"):
            await files.call("read_file", path)


async def test_plain_files_do_not_ask(files: FileConversation):
    files.here.write("a.txt", "x")
    assert isinstance(decided(await files.subject("read_file", "a.txt")), Allow)


async def test_a_file_with_another_name_asks_before_it_is_read(files: FileConversation):
    files.here.write("a.txt", "x")
    (files.here.root / "b.txt").hardlink_to(files.here.root / "a.txt")
    decision = decided(await files.subject("read_file", "b.txt"))
    assert isinstance(decision, Ask)
    assert "2 names (hard links)" in decision.reason.text


async def test_login_data_of_a_server_is_never_read(files: FileConversation):
    path = ".local/share/jupyter/runtime/jpserver-1.json"
    files.here.write(path, "{}")
    assert not (await files.subject("read_file", path)).reads_secret
    with pytest.raises(PolicyRefusal):
        await files.call("read_file", path)


SELF_RUNNING = (
    *(".git/hooks/pre-commit", "sub/.git/config", ".GIT/config", ".bashrc", ".local/bin/git"),
    *(".jupyter/jupyter_server_config.py", ".local/share/jupyter/kernels/x/kernel.json"),
    *(
        ".ipython/profile_default/startup/a.py",
        "a.pth",
        ".vscode/tasks.json",
        ".cursor/rules/a.mdc",
    ),
    *(
        ".github/copilot-instructions.md",
        "GEMINI.md",
        "sub/AGENTS.md",
        ".config/autostart/a.desktop",
    ),
)


@pytest.mark.parametrize("mode", ["ask", "auto_edit", "bypass"])
async def test_a_file_that_runs_by_itself_asks_before_it_is_made_or_changed(
    files: FileConversation, mode: Mode
):
    """In every mode and against every rule, existing or not, moved there or written."""
    files.here.write("x", "x")
    rules = Rules(rules=(ToolRule(action="allow", tool="*"),))
    for path in SELF_RUNNING:
        if is_secret(path):  # no tool writes those
            with pytest.raises(PolicyRefusal):
                await files.subject("create_file", path, content="x")
            continue
        for subject in (
            await files.subject("create_file", path, content="x"),
            await files.subject("move_file", "x", new_path=path),
        ):
            question = PermissionRequest("create_file", "write", external=False, subject=subject)
            decision = decide(question, rules, (), mode=mode, interactive=True)
            assert isinstance(decision, Ask), path
            assert decision.scopes == ("once",)
            assert path in decision.reason.text


@pytest.mark.parametrize("path", SELF_RUNNING)
@pytest.mark.parametrize("mode", MODES)
def test_change_of_a_file_that_runs_by_itself_asks_in_every_mode(path: str, mode: Mode):
    subject = CallSubject("Write", None, Target(path=path), undoable=True, in_page=True)
    question = PermissionRequest("write_file", "write", external=False, subject=subject)
    decision = decide(question, Rules(), (), mode=mode, interactive=True)
    assert isinstance(decision, Deny if mode == "plan" else Ask)


@pytest.mark.parametrize("path", ["env/bin/git", "env/lib/python3.12/site.py", "env"])
def test_programs_of_the_running_server_ask_in_every_mode(path: str):
    subject = CallSubject("Write", None, Target(path=path), undoable=True, in_page=True)
    question = PermissionRequest("write_file", "write", external=False, subject=subject)
    for mode in ("ask", "auto_edit", "bypass"):
        rules = Rules(programs=("env",))
        assert isinstance(decide(question, rules, (), mode=mode, interactive=True), Ask)
    assert isinstance(decide(question, Rules(), (), mode="ask", interactive=True), Allow)
