"""Orders the calls of a batch so that running them together equals running them in turn.

Pure; used by ``engine.calls.batch_runner`` (see docs/design/engine.md#batches).
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.engine.loop.state import ENDING_TOOLS, AllowCall, CallState
from jupyter_ai_shoulders.tools.permissions.grants import target_of


def dependencies_of(calls: Sequence[CallState]) -> list[list[int]]:
    """Return for each call the positions of the earlier calls it must wait for."""
    if any(call.tool in ENDING_TOOLS for call in calls):
        return [list(range(position)) for position in range(len(calls))]
    return [
        [earlier for earlier in range(position) if _conflict(calls[earlier], call)]
        for position, call in enumerate(calls)
    ]


def duplicate_calls(calls: Sequence[CallState]) -> list[int | None]:
    """Return for each read the position of an equal earlier read with no change between them."""
    return [_twin(calls, position) for position in range(len(calls))]


def _twin(calls: Sequence[CallState], position: int) -> int | None:
    call = calls[position]
    if call.risk != "read" or not isinstance(call.verdict, AllowCall):
        return None
    for earlier in reversed(range(position)):
        other = calls[earlier]
        if other.tool == call.tool and other.arguments == call.arguments:
            return earlier
        if _conflict(other, call):
            return None
    return None


def _conflict(first: CallState, second: CallState) -> bool:
    """Return whether two calls conflict: a change does with all calls on its document.

    Reads never conflict; a call without a document conflicts with every change.
    """
    if not (isinstance(first.verdict, AllowCall) and isinstance(second.verdict, AllowCall)):
        return False
    if first.risk == "read" and second.risk == "read":
        return False
    ours, theirs = _paths(first), _paths(second)
    return not ours or not theirs or any(_overlap(one, other) for one in ours for other in theirs)


def _paths(call: CallState) -> list[str]:
    target = target_of(call.arguments or {}, call.tool)
    return [path for path in (target.path, target.new_path) if path is not None]


def _overlap(one: str, other: str) -> bool:
    """Return whether the paths are equal or one is a folder above the other."""
    if "." in {one, other}:
        return True
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
