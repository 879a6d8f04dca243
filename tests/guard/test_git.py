"""What git says of a workspace, and that a hostile repository gets nothing to run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from jupyter_ai_shoulders.guard import git as git_module
from jupyter_ai_shoulders.guard.git import LINES_PER_FILE, GitState, git_state, short_diff

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(directory: Path, *arguments: str) -> None:
    who = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(
        ["git", *who, *arguments], cwd=directory, env=env, check=True, capture_output=True
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit."""
    place = tmp_path / "repo"
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    (place / "a.py").write_text("one\ntwo\nthree\n")
    git(place, "add", ".")
    git(place, "commit", "-qm", "Begin")
    return place


def test_no_repository_is_nothing(tmp_path: Path):
    assert git_state(tmp_path) is None


def test_last_commit_is_told_when_nothing_changed(repository: Path):
    state = git_state(repository)
    assert state is not None
    assert state.branch == "main"
    assert state.of.startswith("last commit: ")
    assert state.of.endswith(" Begin")
    assert state.changes == "a.py:\n@@ -0,0 +1,3 @@\n+one\n+two\n+three"


def test_what_is_not_committed_is_told_first(repository: Path):
    (repository / "a.py").write_text("one\n2\nthree\n")
    assert git_state(repository) == GitState(
        "main", "a.py:\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three", "not committed"
    )


def test_repository_without_a_commit_has_a_branch(tmp_path: Path):
    git(tmp_path, "init", "-q", "-b", "new")
    assert git_state(tmp_path) == GitState("new", "", "")


def test_only_what_is_in_the_workspace_is_told(repository: Path):
    (repository / "work").mkdir()
    (repository / "work" / "b.py").write_text("b\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "More")
    (repository / "a.py").write_text("outside\n")
    (repository / "work" / "b.py").write_text("inside\n")
    state = git_state(repository / "work")
    assert state is not None
    assert state.changes == "b.py:\n@@ -1 +1 @@\n-b\n+inside"


def test_secret_files_are_named_and_not_shown(repository: Path):
    (repository / ".env").write_text("PASSWORD=a\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "Secret")
    (repository / ".env").write_text("PASSWORD=b\n")
    state = git_state(repository)
    assert state is not None
    assert state.changes == ".env: changed (not shown: it looks like a secret)"


def test_odd_names_are_told_apart(repository: Path):
    for name in ("größe.py", 'say "hi".py', "a b.py", 'q"/.env'):
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_text("x\n")
    git(repository, "add", ".")
    state = git_state(repository)
    assert state is not None
    heads = [line for line in state.changes.splitlines() if line[:1] not in {"+", "@"}]
    assert sorted(heads) == [
        "a b.py:",
        "größe.py:",
        r"q\"/.env: changed (not shown: it looks like a secret)",
        r"say \"hi\".py:",
    ]


def test_many_and_long_changes_are_cut():
    header = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n"
    long = "".join(f"+{number} {'x' * 500}\n" for number in range(100))
    files = "".join(header.format(f"f{number}.py") + long for number in range(7))
    shown = short_diff(files).splitlines()
    assert len(shown) == 5 * (1 + LINES_PER_FILE + 1) + 1
    assert max(map(len, shown)) == 200
    assert shown[-1] == "… 2 more of 7 files"
    assert short_diff("diff --git a/x.bin b/x.bin\nBinary files differ\n") == (
        "x.bin: changed (binary, or its mode only)"
    )


def test_repository_that_names_programs_runs_none(repository: Path, tmp_path: Path):
    """Each setting below runs a program in a plain ``git diff``, ``log`` or ``status``."""
    marker = tmp_path / "ran"
    program = tmp_path / "evil.sh"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {marker}\ncat\n')
    program.chmod(0o755)
    hooks = repository / "hooks"
    hooks.mkdir()
    shutil.copy(program, hooks / "post-index-change")
    settings = {
        "core.fsmonitor": str(program),
        "core.hooksPath": str(hooks),
        "core.pager": str(program),
        "pager.diff": str(program),
        "pager.log": str(program),
        "diff.external": str(program),
        "diff.evil.command": str(program),
        "diff.evil.textconv": str(program),
        "filter.evil.clean": str(program),
        "filter.evil.smudge": str(program),
        "filter.evil.process": str(program),
        "filter.evil.required": "true",
        "log.showSignature": "true",
        "gpg.program": str(program),
        "core.sshCommand": str(program),
    }
    (repository / ".gitattributes").write_text("*.py filter=evil diff=evil\n")
    for name, value in settings.items():
        git(repository, "config", name, value)
    (repository / "a.py").write_text("changed\n")
    state = git_state(repository)
    assert not marker.exists(), marker.read_text()
    assert state is not None
    assert "+changed" in state.changes
    git(repository, "config", "--unset", "core.fsmonitor")
    subprocess.run(["git", "diff", "HEAD"], cwd=repository, check=False, capture_output=True)
    assert marker.exists()  # the trap works


@pytest.mark.parametrize("name", ["a=b", "a\u2028b", "a b", "größe"])
def test_filter_with_an_odd_name_is_not_run(repository: Path, tmp_path: Path, name: str):
    """A name with ``=`` cannot be switched off with ``-c``, others not without decoding them."""
    marker = tmp_path / "ran"
    with (repository / ".git" / "config").open("a") as config:
        config.write(f'[filter "{name}"]\n\tclean = "touch {marker}; cat"\n')
    (repository / ".gitattributes").write_text(f"*.py filter={name.split(maxsplit=1)[0]}\n")
    (repository / "a.py").write_text("changed\n")
    assert git_state(repository) == GitState("main", "", "")
    assert not marker.exists()


def test_missing_object_is_not_fetched_by_a_git_that_fetches_lazily(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    marker = tmp_path / "ran"
    blob = subprocess.check_output(["git", "rev-parse", "HEAD:a.py"], cwd=repository, text=True)
    (repository / ".git" / "objects" / blob[:2] / blob[2:].strip()).unlink()
    settings = {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::touch {marker}",
        "protocol.ext.allow": "always",
    }
    for name, value in settings.items():
        git(repository, "config", name, value)
    (repository / "a.py").write_text("changed\n")
    before = git_module._environment  # pyright: ignore[reportPrivateUsage] an older git
    monkeypatch.setattr(
        git_module,
        "_environment",
        lambda: {name: value for name, value in before().items() if name != "GIT_NO_LAZY_FETCH"},
    )
    git_state(repository)
    assert not marker.exists()
    subprocess.run(["git", "diff", "HEAD"], cwd=repository, check=False, capture_output=True)
    assert marker.exists()  # the trap works


def test_git_that_hangs_is_given_up(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    monkeypatch.setattr("jupyter_ai_shoulders.guard.git._TIMEOUT_S", 0.05)
    assert git_state(repository) is None


def test_system_without_git_has_nothing(repository: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    assert git_state(repository) is None
