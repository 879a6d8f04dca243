"""The tools for git: what they tell, and that a commit is what the user was shown."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import NotFound, PolicyRefusal
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.testing.scripted_provider import Call, turn
from jupyter_ai_shoulders.tools.git.commit import GitCommit
from jupyter_ai_shoulders.tools.git.diff import GitDiff
from jupyter_ai_shoulders.tools.git.status import GitStatus
from jupyter_ai_shoulders.tools.permissions.rules import Ask, PermissionRequest, Rules, decide
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.tools.tool_factories import git_tools
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import ApprovalRequest, ToolResult
from jupyter_ai_shoulders.wire.sessions import Mode
from tests.engine.engine_harness import make_engine, make_session
from tests.guard.git_repositories import git, make_repository
from tests.tools.direct_calls import call, context, put, rows_of, subject_of, text_of

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    found = Workspace(make_repository(tmp_path / "root", a_py="one\n"))
    yield found
    found.close()


async def test_status_tells_the_branch_and_the_files(workspace: Workspace):
    put(workspace, "a.py", "two\n")
    put(workspace, "sub/~b.py", "b\n")
    result = await call(GitStatus(workspace))
    assert text_of(result) == (
        "On branch main.\n2 changed files.\na.py  (modified)\nsub/~b.py  (not tracked)"
    )
    assert rows_of(result, "files")[0] == {
        "path": "a.py",
        "staged": None,
        "unstaged": "modified",
        "untracked": False,
    }
    assert result.envelope.meta.total == 2


async def test_status_of_what_is_committed_says_so(workspace: Workspace):
    text = "On branch main.\nNothing changed since the last commit."
    assert text_of(await call(GitStatus(workspace))) == text


async def test_repository_is_that_of_the_open_document(tmp_path: Path):
    make_repository(tmp_path / "project")
    workspace = Workspace(tmp_path)
    put(workspace, "project/a.py", "changed\n")
    with pytest.raises(NotFound, match="not in a git repository"):
        await call(GitStatus(workspace))
    result = await call(GitStatus(workspace), context("project/a.py"))
    assert "project/a.py  (modified)" in text_of(result)
    workspace.close()


async def test_diff_shows_what_changed(workspace: Workspace):
    put(workspace, "a.py", "two\n")
    put(workspace, "new.py", "n\n")
    result = await call(GitDiff(workspace))
    assert "-one\n+two" in text_of(result)
    assert "new.py" not in text_of(result)
    assert result.envelope.data == {"diff": text_of(result) + "\n", "files": ["a.py"]}
    nothing = await call(GitDiff(workspace), staged=True)
    assert text_of(nothing) == "Nothing changed that is staged."
    git(workspace.directory, "add", ".")
    staged = await call(GitDiff(workspace), staged=True, path="new.py")
    assert "+n" in text_of(staged)
    assert "two" not in text_of(staged)


async def test_diff_names_secrets_only(workspace: Workspace):
    put(workspace, ".env", "KEY=1\n")
    git(workspace.directory, "add", ".")
    result = await call(GitDiff(workspace), staged=True)
    assert "KEY" not in text_of(result)
    assert ".env changed too" in text_of(result)
    with pytest.raises(PolicyRefusal):
        await call(GitDiff(workspace), path=".env")


async def test_commit_shows_what_it_will_hold_and_holds_it(workspace: Workspace):
    put(workspace, "a.py", "two\n")
    put(workspace, "new.py", "n\n")
    arguments = {"message": "Say two", "paths": ["a.py", "new.py"]}
    subject = await subject_of(GitCommit(workspace), **arguments)
    assert subject.title == "Commit 2 files to main"
    assert subject.preview_is_complete
    preview = subject.preview or ""
    assert preview.startswith(
        "# Say two\n#\n# a.py  (modified)\n# new.py  (not tracked)\n"
        "# It runs: nothing of the repository.\n# State "
    )
    assert "-one\n+two" in preview
    assert "+n" in preview
    result = await call(GitCommit(workspace), **arguments)
    head = git(workspace.directory, "rev-parse", "HEAD").strip()
    assert text_of(result) == f"Committed 2 files to main as {head[:10]}."
    assert git(workspace.directory, "status", "--porcelain") == ""


async def test_preview_of_a_commit_changes_with_its_files(workspace: Workspace):
    long = "".join(f"{number}\n" for number in range(20_000))
    put(workspace, "a.py", long + "1\n" + long)
    first = await subject_of(GitCommit(workspace), message="m", paths=["a.py"])
    put(workspace, "a.py", long + "2\n" + long)
    second = await subject_of(GitCommit(workspace), message="m", paths=["a.py"])
    assert first.preview != second.preview  # though the place that changed is not shown


@pytest.mark.parametrize("mode", ["ask", "auto_edit"])
async def test_commit_asks(workspace: Workspace, mode: Mode):
    put(workspace, "a.py", "two\n")
    subject = await subject_of(GitCommit(workspace), message="m", paths=["a.py"])
    question = PermissionRequest("git_commit", GitCommit.risk, external=False, subject=subject)
    assert isinstance(decide(question, Rules(), (), mode=mode, interactive=True), Ask)


def test_git_tools_are_offered_once_they_are_loaded(workspace: Workspace):
    tools = ToolRegistry(git_tools(workspace), lambda name: name, on_demand=["git"])
    names = {"git_status", "git_diff", "git_commit"}
    assert {tool.name for tool in tools.of_category("git", "full", "ask", ())} == names
    assert {tool.name for tool in tools.of_category("git", "full", "plan", ())} == names - {
        "git_commit"
    }


async def test_commit_of_other_text_than_was_shown_does_not_happen(workspace: Workspace):
    arguments: JsonObject = {"message": "m", "paths": ["a.py"]}
    w = make_engine(
        turn(Call("git_commit", arguments, "c1")),
        turn(Call("git_commit", arguments, "c2")),
        "End.",
        given=make_session(toolset="full"),
        loop=[GitCommit(workspace)],
    )
    put(workspace, "a.py", "shown\n")
    before = git(workspace.directory, "rev-parse", "HEAD")
    await w.say()
    put(workspace, "a.py", "slipped in\n")
    await w.answer()
    assert git(workspace.directory, "rev-parse", "HEAD") == before
    (refused,) = w.of(ToolResult)
    assert refused.result.error is not None
    assert refused.result.error.code == "stale"
    assert "+slipped in" in (w.of(ApprovalRequest)[-1].preview or "")
    await w.answer()
    assert w.results() == [("c1", "error"), ("c2", "ok")]
    assert git(workspace.directory, "show", "HEAD:a.py") == "slipped in\n"
