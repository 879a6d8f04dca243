"""Git's report on a workspace; a hostile repository cannot run anything."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from jupyter_ai_shoulders.guard.git import safe_git as git_module
from jupyter_ai_shoulders.guard.git.safe_git import GitState, git_state

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(directory: Path, *arguments: str) -> None:
    who = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(
        ["git", *who, *arguments], cwd=directory, env=env, check=True, capture_output=True
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with one commit."""
    place = tmp_path / "repo"
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    (place / "a.py").write_text("one\ntwo\nthree\n")
    git(place, "add", ".")
    git(place, "commit", "-qm", "Begin")
    return place


def test_no_repository_is_nothing(tmp_path: Path):
    assert git_state(tmp_path) is None


def test_changed_files_of_the_workspace_are_counted(repository: Path):
    assert git_state(repository) == GitState(0)
    (repository / "work").mkdir()
    (repository / "work" / "b.py").write_text("b\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "More")
    (repository / "a.py").write_text("one\n2\nthree\n")
    (repository / "work" / "b.py").write_text("inside\n")
    assert git_state(repository) == GitState(2)
    assert git_state(repository / "work") == GitState(1)


def test_repository_without_a_commit_is_one(tmp_path: Path):
    git(tmp_path, "init", "-q", "-b", "new")
    assert git_state(tmp_path) == GitState(None)


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
    assert state == GitState(1)
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
    assert git_state(repository) == GitState(None)
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
    monkeypatch.setattr("jupyter_ai_shoulders.guard.git.safe_git._TIMEOUT_S", 0.05)
    assert git_state(repository) is None


def test_system_without_git_has_nothing(repository: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    assert git_state(repository) is None
