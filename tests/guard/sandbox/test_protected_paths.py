"""Detection and protection of paths a sandboxed command must not read or change."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.sensitive_files.protected_files import first_protected_file_in
from jupyter_ai_shoulders.guard.process.spawner_pool import SpawnerPool
from jupyter_ai_shoulders.guard.sandbox import protected_paths
from jupyter_ai_shoulders.guard.sandbox.capabilities import SandboxCapabilities, detect_capabilities
from jupyter_ai_shoulders.guard.sandbox.protected_paths import (
    SandboxLocations,
    find_protected_paths,
)
from jupyter_ai_shoulders.guard.sandbox.sandbox import Sandbox
from jupyter_ai_shoulders.guard.sandbox.sandbox_policy import SandboxRequest
from tests.guard.command_runner import CommandResult, program, run_command
from tests.guard.git_repositories import git, make_repository

COVERING = SandboxCapabilities("landlock", covers=True)


@pytest.fixture
def locations(tmp_path: Path) -> SandboxLocations:
    root = make_repository(tmp_path / "root")
    for name in ("AGENTS.md", "sub/claude.md", ".git/hooks/pre-commit"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("as it was\n")
    return SandboxLocations(root, root / ".shoulders", tmp_path / "home", dict(os.environ))


def boxed(locations: SandboxLocations, capabilities: SandboxCapabilities) -> Sandbox:
    async def told() -> SandboxCapabilities:
        return capabilities

    return Sandbox(locations, told)


async def tried(
    locations: SandboxLocations, line: str, request: SandboxRequest | None = None
) -> CommandResult | None:
    """Run a line in the sandbox; None on a system whose sandbox cannot hide paths."""
    capabilities = await detect_capabilities(SpawnerPool())
    if not capabilities.covers:
        return None
    asked = program(line, locations.workspace)
    with boxed(locations, capabilities).confined(
        asked, capabilities, request or SandboxRequest()
    ) as confined:
        return await run_command(confined)


def below(locations: SandboxLocations, paths: tuple[object, ...]) -> set[str]:
    return {Path(str(path)).relative_to(locations.workspace).as_posix() for path in paths}


@pytest.mark.parametrize(
    "line",
    [
        "echo x > AGENTS.md",
        "rm AGENTS.md",
        "echo x > new && mv new AGENTS.md",
        "echo x > sub/claude.md",
        "echo x > .git/hooks/pre-commit",
        "echo x > .git/hooks/post-commit",
        "git config core.hooksPath /elsewhere",
        "echo x >> .git/config",
        "mv .git away && cp -r away .git && echo x >> .git/config",
        "echo /elsewhere > .git/commondir",
        "mkdir -p .git/modules/x && touch .git/modules/x/config",
        "echo x > .git/objects/info/alternates",
    ],
)
async def test_what_shapes_the_agent_or_runs_cannot_be_changed(
    locations: SandboxLocations, line: str
) -> None:
    root = locations.workspace
    kept = [root / name for name in ("AGENTS.md", "sub/claude.md", ".git/config")]
    before = [path.read_text() for path in kept], sorted((root / ".git/hooks").iterdir())

    done = await tried(locations, line)

    if done is None:
        exposed = boxed(locations, replace(COVERING, covers=False)).exposure(
            replace(COVERING, covers=False), SandboxRequest()
        )
        assert str(root / "AGENTS.md") in exposed.paths
        return
    assert done.ended.code != 0, done.all
    after = [path.read_text() for path in kept], sorted((root / ".git/hooks").iterdir())
    assert after == before


async def test_work_with_git_goes_on_in_the_sandbox(locations: SandboxLocations) -> None:
    (locations.workspace / ".git/hooks/pre-commit").unlink()

    git_lines = SandboxRequest(repositories=True)
    done = await tried(
        locations, "set -e; echo x > n; git add n; git commit -qm N; git checkout -qb b", git_lines
    )
    refused = await tried(locations, "git config core.pager x || echo x > .git/hooks/x", git_lines)
    shown = await tried(locations, "git log --oneline; git status; git diff HEAD")

    assert done is None or done.ended.code == 0, done and done.all
    assert done is None or git(locations.workspace, "log", "-1", "--format=%s").strip() == "N"
    assert refused is None or refused.ended.code != 0
    assert shown is None or (shown.ended.code == 0 and " N\n" in shown.out)


async def test_passwords_in_the_settings_of_git_are_not_shown(locations: SandboxLocations) -> None:
    git(locations.workspace, "remote", "add", "origin", "https://me:hidden@example.com/a.git")
    git(locations.workspace, "config", "http.extraHeader", "Authorization: hidden")
    assert below(locations, find_protected_paths(locations).secret) == {".git/config", ".shoulders"}

    done = await tried(locations, "cat .git/config; git remote -v")

    assert done is None or "hidden" not in done.all
    assert done is None or "https://example.com/a.git (fetch)" in done.out


def test_settings_of_git_without_passwords_are_not_secret(locations: SandboxLocations) -> None:
    git(locations.workspace, "remote", "add", "origin", "git@example.com:a.git")

    assert below(locations, find_protected_paths(locations).secret) == {".shoulders"}


def test_a_home_as_workspace_keeps_what_runs_at_login(locations: SandboxLocations) -> None:
    locations = replace(locations, home=locations.workspace)
    for name in (".bashrc", ".ipython/profile_default/startup/a.py", ".config/autostart/x"):
        (locations.workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (locations.workspace / name).touch()

    found = find_protected_paths(locations)

    request = {".bashrc", ".ipython", ".config/autostart", "AGENTS.md", ".git"}
    assert request <= below(locations, found.frozen)
    assert below(locations, found.unmovable) == {".config"}


def test_deep_secrets_are_found_and_installed_files_are_passed_over(
    locations: SandboxLocations,
) -> None:
    for name in ("a/b/c/d/e/f/g/.env", "node_modules/x/.env", "venv/lib/.env"):
        (locations.workspace / name).parent.mkdir(parents=True)
        (locations.workspace / name).touch()

    found = find_protected_paths(locations)

    assert below(locations, found.secret) == {"a/b/c/d/e/f/g/.env", ".shoulders"}
    assert not found.truncated


@pytest.mark.parametrize(
    "sandbox_request",
    [SandboxRequest(), SandboxRequest(read_only=True)],
    ids=["write", "read only"],
)
def test_a_search_that_was_cut_is_reported(
    locations: SandboxLocations, sandbox_request: SandboxRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = boxed(locations, COVERING)
    assert box.exposure(COVERING, sandbox_request).truncated is False

    monkeypatch.setattr(protected_paths, "_MOST_ENTRIES", 3)

    assert box.exposure(COVERING, sandbox_request).truncated is True


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("cp x AGENTS.md", "AGENTS.md"),
        ("echo x >agents.MD", "agents.MD"),
        ('echo x > sub/"CLAUDE".md', "sub/CLAUDE.md"),
        ("rm ./.git/hooks/x", "./.git/hooks/x"),
        ("tee .shoulders/a", ".shoulders/a"),
        ("echo x >> ~/.bashrc", "~/.bashrc"),
        ("cp x --target-directory=.vscode", ".vscode"),
        ("curl -o site/sitecustomize.py x", "site/sitecustomize.py"),
        (".venv/bin/python train.py", None),
        ("git clone https://example.com/a.git", None),
        ("cat .gitignore .github/x", None),
        ("python -m cProfile -o out.profile agents.mdx", None),
    ],
)
def test_names_in_a_line_are_seen(line: str, name: str | None) -> None:
    assert first_protected_file_in(line) == name


def test_bubblewrap_is_the_program_that_was_tried(locations: SandboxLocations) -> None:
    """A command's path may contain another program of that name."""
    capabilities = SandboxCapabilities("bubblewrap", covers=True, program="/opt/bwrap")
    root = str(locations.workspace)

    with boxed(locations, capabilities).confined(
        program("true", locations.workspace), capabilities, SandboxRequest()
    ) as confined:
        words = list(confined.words)

    assert words[0] == "/opt/bwrap"
    assert words[words.index(f"{root}/.git") - 1] == "--ro-bind-try"
