"""Commits: their content and programs are known beforehand, and nothing else happens."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, PolicyRefusal
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.git import commits
from jupyter_ai_shoulders.guard.git.commits import CommitPlan, commit, plan_commit
from jupyter_ai_shoulders.guard.git.repository import Repository, find_repository
from tests.guard.command_runner import is_running, wait_for, wait_until
from tests.guard.git_repositories import git, make_repository, program

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "root", a_py="one\n", b_py="two\n")


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    found = Workspace(root)
    yield found
    found.close()


def planned(workspace: Workspace, paths: Sequence[str] = ()) -> tuple[Repository, CommitPlan]:
    repository = find_repository(workspace, WorkspacePath(""))
    return repository, plan_commit(workspace, repository, [*map(WorkspacePath, paths)])


def committed(root: Path) -> list[str]:
    """Return the files of the last commit."""
    return git(root, "show", "--format=", "--name-only", "HEAD").splitlines()


def test_what_is_staged_is_committed(workspace: Workspace, root: Path):
    (root / "a.py").write_text("staged\n")
    git(root, "add", "a.py")
    (root / "a.py").write_text("later\n")
    repository, plan = planned(workspace)
    assert "+staged" in plan.diff
    assert "+later" not in plan.diff
    made = commit(repository, plan, "Say it\n\nWith -v and 'quotes'\n# not a comment")
    assert made.commit == git(root, "rev-parse", "HEAD").strip()
    assert git(root, "show", "HEAD:a.py") == "staged\n"
    said = git(root, "log", "-1", "--format=%B").strip()
    assert said == "Say it\n\nWith -v and 'quotes'\n# not a comment"


def test_paths_are_committed_alone_and_what_is_staged_stays_so(workspace: Workspace, root: Path):
    (root / "a.py").unlink()
    (root / "b.py").write_text("staged, not asked for\n")
    (root / "new").mkdir()
    (root / "new" / "c.py").write_text("fresh\n")
    git(root, "add", "b.py")
    repository, plan = planned(workspace, ["a.py", "new"])
    assert [file.path for file in plan.files] == ["a.py", "new/c.py"]
    assert "-one" in plan.diff
    assert "+fresh" in plan.diff
    commit(repository, plan, "Two")
    assert committed(root) == ["a.py", "new/c.py"]
    assert git(root, "status", "--porcelain") == "M  b.py\n"


def test_first_commit_is_made(tmp_path: Path):
    root = tmp_path / "fresh"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.name", "T")
    git(root, "config", "user.email", "t@example.com")
    (root / "a.py").write_text("x\n")
    workspace = Workspace(root)
    repository, plan = planned(workspace, ["a.py"])
    commit(repository, plan, "Begin")
    assert committed(root) == ["a.py"]
    workspace.close()


@pytest.mark.parametrize("paths", [[], ["a.py"]], ids=["staged", "paths"])
def test_nothing_to_commit_is_said(workspace: Workspace, root: Path, paths: list[str]):
    (root / "b.py").write_text("changed\n")
    with pytest.raises(InvalidRequest, match="Nothing") as raised:
        planned(workspace, paths)
    assert ("b.py" in str(raised.value.info.hint)) is not bool(paths)


def test_secrets_are_not_committed(workspace: Workspace, root: Path):
    (root / ".env").write_text("KEY=1\n")
    with pytest.raises(PolicyRefusal, match=r"\.env"):
        planned(workspace, ["."])
    git(root, "add", ".env")
    with pytest.raises(PolicyRefusal, match=r"\.env"):
        planned(workspace)


def test_files_staged_outside_the_workspace_are_not_committed_unseen(tmp_path: Path):
    top = make_repository(tmp_path / "top", a_py="one\n")
    (top / "work").mkdir()
    (top / "work" / "b.py").write_text("b\n")
    (top / "a.py").write_text("outside\n")
    git(top, "add", ".")
    workspace = Workspace(top / "work")
    with pytest.raises(PolicyRefusal, match="outside the workspace"):
        planned(workspace)
    repository, plan = planned(workspace, ["b.py"])
    commit(repository, plan, "Inside")
    assert committed(top) == ["work/b.py"]
    workspace.close()


def test_hooks_and_filters_run_and_are_told_beforehand(
    workspace: Workspace, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    marker = tmp_path / "ran"
    program(root / ".git" / "hooks" / "pre-commit", marker, f"env >> {marker}")
    program(root / ".git" / "hooks" / "pre-push", marker)
    clean = program(tmp_path / "clean", marker, "sed s/secret/clean/")
    git(root, "config", "filter.tidy.clean", str(clean))
    git(root, "config", "filter.unused.clean", str(clean))
    (root / ".gitattributes").write_text("*.md filter=tidy\n")
    (root / "n.md").write_text("secret\n")
    repository, plan = planned(workspace, ["n.md"])
    assert plan.programs == ("hook pre-commit", "filter tidy")
    assert not marker.exists()
    commit(repository, plan, "Tidy")
    assert git(root, "show", "HEAD:n.md") == "clean\n"
    ran = marker.read_text()
    assert "pre-commit" in ran
    assert "sk-secret" not in ran


def test_hooks_elsewhere_and_signing_are_told(workspace: Workspace, root: Path, tmp_path: Path):
    program(root / "checks" / "commit-msg", tmp_path / "ran")
    git(root, "config", "core.hooksPath", "checks")
    git(root, "config", "commit.gpgSign", "true")
    git(root, "config", "gpg.program", "/opt/odd signer")
    _, plan = planned(workspace, ["checks"])
    assert plan.programs == ("hook commit-msg", "signature by /opt/odd signer")


def test_nothing_else_of_the_configuration_runs(workspace: Workspace, root: Path, tmp_path: Path):
    marker = tmp_path / "ran"
    run = program(tmp_path / "evil.sh", marker)
    for name in ("core.fsmonitor", "core.pager", "core.editor", "diff.external", "core.sshCommand"):
        git(root, "config", name, str(run))
    git(root, "config", "commit.verbose", "true")
    (root / "a.py").write_text("changed\n")
    repository, plan = planned(workspace, ["a.py"])
    assert plan.programs == ()
    commit(repository, plan, "Quiet")
    assert committed(root) == ["a.py"]
    assert not marker.exists(), marker.read_text()


def test_hook_that_refuses_leaves_all_as_it_was(workspace: Workspace, root: Path, tmp_path: Path):
    program(root / ".git" / "hooks" / "pre-commit", tmp_path / "ran", "echo style is wrong; exit 1")
    (root / "a.py").write_text("changed\n")
    (root / "new.py").write_text("n\n")
    before = git(root, "status", "--porcelain"), git(root, "rev-parse", "HEAD")
    repository, plan = planned(workspace, ["a.py", "new.py"])
    with pytest.raises(Conflict, match="style is wrong"):
        commit(repository, plan, "Try")
    assert (git(root, "status", "--porcelain"), git(root, "rev-parse", "HEAD")) == before


class _LimitOnceThere(threading.Thread):
    """A time limit that expires as soon as a file has content, independent of speed."""

    def __init__(self, path: Path, stop: Callable[[], None]) -> None:
        super().__init__()
        self._path = path
        self._stop_command = stop

    def run(self) -> None:
        wait_for(self._path)
        self._stop_command()

    def cancel(self) -> None:
        self.join()


def test_hook_that_hangs_is_ended_with_what_it_started(
    workspace: Workspace, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pid = tmp_path / "pid"
    more = f"sleep 600 &\necho $! > {pid}\nwait"
    program(root / ".git" / "hooks" / "pre-commit", tmp_path / "ran", more)

    def limit(_: float, stop: Callable[[], None]) -> _LimitOnceThere:
        return _LimitOnceThere(pid, stop)

    monkeypatch.setattr(commits, "Timer", limit)
    (root / "a.py").write_text("changed\n")
    repository, plan = planned(workspace, ["a.py"])
    with pytest.raises(Conflict, match="took too long"):
        commit(repository, plan, "Try")
    wait_until(lambda: not is_running(int(pid.read_text())))


def test_what_a_hook_leaves_running_does_not_hold_the_commit_up(
    workspace: Workspace, root: Path, tmp_path: Path
):
    pid = tmp_path / "pid"
    more = f"setsid sleep 600 &\necho $! > {pid}"
    program(root / ".git" / "hooks" / "post-commit", tmp_path / "ran", more)
    (root / "a.py").write_text("changed\n")
    repository, plan = planned(workspace, ["a.py"])

    made = commit(repository, plan, "Try")

    assert made.commit == git(root, "rev-parse", "HEAD").strip()
    assert is_running(int(pid.read_text()))
    os.kill(int(pid.read_text()), signal.SIGKILL)


def test_fingerprint_changes_with_what_would_be_committed(workspace: Workspace, root: Path):
    (root / "a.py").write_text("1111\n")
    git(root, "add", "a.py")
    prints = [planned(workspace)[1].fingerprint]
    assert planned(workspace)[1].fingerprint == prints[0]
    (root / "a.py").write_text("2222\n")
    git(root, "add", "a.py")
    prints.append(planned(workspace)[1].fingerprint)
    prints.append(planned(workspace, ["a.py"])[1].fingerprint)
    (root / "a.py").write_text("3333\n")
    prints.append(planned(workspace, ["a.py"])[1].fingerprint)
    assert len(set(prints)) == len(prints)


def test_fingerprint_changes_with_what_would_run(workspace: Workspace, root: Path, tmp_path: Path):
    (root / "a.py").write_text("changed\n")
    prints = [planned(workspace, ["a.py"])[1].fingerprint]
    hook = program(root / ".git" / "hooks" / "pre-commit", tmp_path / "ran", "exit 0")
    prints.append(planned(workspace, ["a.py"])[1].fingerprint)
    assert planned(workspace, ["a.py"])[1].fingerprint == prints[-1]
    text = hook.read_text()
    hook.write_text(text.replace("exit 0", "exit 1"))
    prints.append(planned(workspace, ["a.py"])[1].fingerprint)
    git(root, "config", "filter.tidy.clean", "cat")
    prints.append(planned(workspace, ["a.py"])[1].fingerprint)
    assert len(set(prints)) == len(prints)


def test_author_that_git_does_not_know_is_asked_for(
    workspace: Workspace, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("user.name", "user.email"):
        git(root, "config", "--unset", name)
    git(root, "config", "user.useConfigOnly", "true")
    (root / "a.py").write_text("changed\n")
    repository, plan = planned(workspace, ["a.py"])
    with pytest.raises(Conflict, match=r"(?s)nothing was committed.*email"):
        commit(repository, plan, "Try")
