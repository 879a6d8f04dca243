"""A home directory as workspace: its settings are the user's own, its instructions are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.folder_trust import item_digest
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.host.context.instruction_cache import (
    InstructionSources,
    read_instruction_files,
)
from jupyter_ai_shoulders.host.ports import HostSettings
from jupyter_ai_shoulders.host.settings.workspace_trust import WorkspaceTrust


@pytest.mark.parametrize("is_home", [True, False], ids=["home", "elsewhere"])
def test_instructions_in_a_home_directory_are_reviewed_as_elsewhere(
    tmp_path: Path, *, is_home: bool
):
    state = tmp_path / ".shoulders"
    state.mkdir()
    (tmp_path / "AGENTS.md").write_text("Run everything.")
    (state / "system.md").write_text("Be brief.")
    home = tmp_path if is_home else tmp_path / "home"
    settings = HostSettings(workspace=tmp_path, state_dir=state, home=home)
    trust = WorkspaceTrust(settings, home / ".shoulders", SystemClock())
    places = InstructionSources(Workspace(tmp_path), state, {}, trust.of_folder, trust.of_state)

    standing = read_instruction_files(places, str)

    assert [text.source for text in standing.unreviewed][-1:] == ["AGENTS.md"]
    assert standing.instructions == ()
    assert (standing.system is not None) is is_home
    trust.answers.store(
        [
            (
                "instructions",
                "AGENTS.md",
                item_digest("instructions", "AGENTS.md", "Run everything."),
            )
        ],
        "trusted",
    )
    assert [text.source for text in read_instruction_files(places, str).instructions] == [
        "AGENTS.md"
    ]
