"""Our tools that do the same as those of agents: rules that restrict ours restrict theirs too.

Used by ``engine.calls.approvals``. A rule that allows ours does not allow an agent's.
"""

from __future__ import annotations

from collections.abc import Mapping

_WRITES = ("write_file", "create_file", "edit_file")

COUNTERPARTS: Mapping[str, tuple[str, ...]] = {
    "agent_read_file": ("read_file",),
    "agent_write_file": _WRITES,
    "agent_run_command": ("run_command",),
    "agent_may_read": ("read_file",),
    "agent_may_edit": _WRITES,
    "agent_may_run": ("run_command",),
    "agent_may_fetch": ("fetch_url",),
}
