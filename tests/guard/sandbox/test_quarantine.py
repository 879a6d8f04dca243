"""New files of a command that run by themselves are set aside."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from jupyter_ai_shoulders.guard.sandbox.protected_paths import (
    ProtectedPaths,
    SandboxLocations,
    find_protected_paths,
)
from jupyter_ai_shoulders.guard.sandbox.quarantine import (
    QuarantinedFile,
    can_run_programs,
    quarantine_new_files,
)
from tests.guard.git_repositories import git, make_repository


@dataclass(frozen=True, slots=True)
class QuarantineScenario:
    """A workspace with a repository and a folder, as before a command."""

    places: SandboxLocations
    before: ProtectedPaths

    @property
    def root(self) -> Path:
        return self.places.workspace

    def quarantine(self, *names: str) -> list[QuarantinedFile]:
        """Make files as a command does; return those set aside."""
        for name in names:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text("x")
        return quarantine_new_files(self.places, self.before)


@pytest.fixture
def scenario(tmp_path: Path) -> QuarantineScenario:
    root = make_repository(tmp_path / "root")
    (root / "sub").mkdir()
    (root / "CLAUDE.md").write_text("as it was")
    places = SandboxLocations(root, root / ".shoulders", tmp_path / "home", dict(os.environ))
    return QuarantineScenario(places, find_protected_paths(places))


@pytest.mark.parametrize(
    ("made", "named"),
    [
        ("AGENTS.md", "AGENTS.md"),
        ("sub/GEMINI.md", "sub/GEMINI.md"),
        (".vscode/tasks.json", ".vscode"),
        (".github/copilot-instructions.md", ".github/copilot-instructions.md"),
        (".bashrc", ".bashrc"),
        ("sub/sitecustomize.py", "sub/sitecustomize.py"),
        (".ipython/profile_default/startup/a.py", ".ipython"),
    ],
)
def test_what_a_command_made_is_renamed_and_kept(
    scenario: QuarantineScenario, made: str, named: str
):
    assert scenario.quarantine(made) == [QuarantinedFile(named, f"{named}.set-aside")]
    assert (scenario.root / made.replace(named, f"{named}.set-aside")).read_text() == "x"
    assert scenario.quarantine(made) == [QuarantinedFile(named, f"{named}.set-aside-2")]


def test_what_was_there_and_other_files_stay(scenario: QuarantineScenario):
    (scenario.root / "CLAUDE.md").write_text("changed by the user during the run")
    assert (
        scenario.quarantine("a.py", "sub/b.csv", ".env", "clone/AGENTS.md", "clone/.vscode/x") == []
    )
    assert (scenario.root / "CLAUDE.md").exists()


@pytest.mark.parametrize(
    "name",
    [
        *(".git/commondir", ".git/config.worktree", ".git/info/attributes"),
        *(".git/objects/info/alternates", ".git/modules/x/config", ".git/worktrees/x/gitdir"),
    ],
)
def test_what_git_would_follow_is_set_aside(scenario: QuarantineScenario, name: str):
    (found,) = scenario.quarantine(name)
    assert name.startswith(found.path)
    assert git(scenario.root, "status", "--short").count("set-aside") == 0


def test_hooks_where_there_were_none_are_set_aside(tmp_path: Path):
    root = make_repository(tmp_path / "root")
    for hook in (root / ".git/hooks").iterdir():
        hook.unlink()
    (root / ".git/hooks").rmdir()
    places = SandboxLocations(root, root / ".shoulders", tmp_path / "home", dict(os.environ))
    scenario = QuarantineScenario(places, find_protected_paths(places))
    assert scenario.quarantine(".git/hooks/pre-commit.sample") == []
    assert scenario.quarantine(".git/hooks/post-index-change") == [
        QuarantinedFile(".git/hooks", ".git/hooks.set-aside")
    ]


def test_a_plain_new_repository_stays_and_one_that_runs_something_does_not(
    scenario: QuarantineScenario,
):
    for name in ("plain", "clone", "monitor", "pointer"):
        (scenario.root / "sub" / name).mkdir()
    git(scenario.root / "sub/plain", "init", "-q")
    git(scenario.root / "sub", "clone", "-q", str(scenario.root), "clone")
    git(scenario.root / "sub/monitor", "init", "-q")
    git(scenario.root / "sub/monitor", "config", "core.fsmonitor", "/tmp/evil")
    assert scenario.quarantine() == [
        QuarantinedFile("sub/monitor/.git", "sub/monitor/.git.set-aside")
    ]
    assert (scenario.root / "sub/plain/.git").is_dir()
    assert scenario.quarantine("sub/.git") == [QuarantinedFile("sub/.git", "sub/.git.set-aside")]


SETTINGS = {
    "core.fsmonitor": "x",
    "core.hooksPath": "x",
    "core.pager": "x",
    "core.sshCommand": "x",
    "core.editor": "x",
    "core.worktree": "/",
    "include.path": "x",
    "filter.a.clean": "x",
    "diff.a.textconv": "x",
    "diff.external": "x",
    "alias.status": "!x",
    "credential.helper": "!x",
    "gpg.program": "x",
    "remote.a.url": "ext::sh -c x",
    "remote.a.uploadpack": "x",
    "submodule.a.update": "!x",
    "merge.a.driver": "x",
    "extensions.worktreeConfig": "true",
}


@pytest.mark.parametrize(("name", "value"), SETTINGS.items(), ids=SETTINGS)
def test_settings_by_which_git_runs_something_are_seen(tmp_path: Path, name: str, value: str):
    git(tmp_path, "init", "-q")
    assert not can_run_programs(tmp_path / ".git")
    git(tmp_path, "config", name, value)
    assert can_run_programs(tmp_path / ".git")


def test_what_cannot_be_renamed_is_told(
    scenario: QuarantineScenario, monkeypatch: pytest.MonkeyPatch
):
    def refused(self: Path, target: Path) -> Path:
        raise PermissionError(13, "not permitted", str(self))

    monkeypatch.setattr(Path, "rename", refused)
    assert scenario.quarantine("AGENTS.md") == [QuarantinedFile("AGENTS.md", None)]
