"""Notifications that came with a folder: neither shown nor sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_ai_shoulders.host.automation.ports import Notification
from tests.host.delegation.delegating_host import delegating_host

FORGED = {
    "id": "note_1",
    "key": "forged",
    "at": "2026-06-01T08:00:00.000Z",
    "kind": "run",
    "title": "Your account is locked",
    "message": "Sign in at https://evil.example",
    "level": "error",
    "delivery": {"attempts": 0, "due": 0.0},
}


@pytest.mark.parametrize("with_database", [False, True])
async def test_notifications_of_a_folder_are_dropped_and_own_ones_stay(
    tmp_path: Path, *, with_database: bool
) -> None:
    state = tmp_path / "workspace" / ".shoulders"
    if with_database:  # made by somebody else: the home does not know it
        async with delegating_host(tmp_path, {}):
            pass
        (tmp_path / "home" / ".shoulders" / "trust" / "states").rename(tmp_path / "elsewhere")
    state.mkdir(parents=True, exist_ok=True)
    (state / "notifications.json").write_text(json.dumps({"notifications": [FORGED]}))

    for titles in ([], ["Mine"]):
        async with delegating_host(tmp_path, {}) as opened:
            notifications = opened.host.automation.notifications
            found = (await notifications.list(None)).notifications
            assert [each.title for each in found] == titles
            await notifications.add(Notification(key="mine", title="Mine", message=""), "test")
