"""The mode and options that an agent is given when it starts. Pure but for ``apply``.

Used by ``agent_models``. What was chosen in a conversation is recorded as its ``AgentState``, also
while no agent runs, and chosen again at each start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.wire.api.agents import PatchAgent
from jupyter_ai_shoulders.wire.events import AgentOption, AgentState

if TYPE_CHECKING:
    from jupyter_ai_shoulders.acp_client.connection import AgentConnection
    from jupyter_ai_shoulders.acp_client.values import AgentFacts

ASKING_MODES = ("default", "read-only", "approve")
"""Modes in which agents ask before they act: Claude Code and Gemini CLI, Codex, Goose."""
MODE_CATEGORY = "mode"


def choices_at_start(
    facts: AgentFacts, recorded: AgentState | None, *, asks: bool
) -> list[PatchAgent]:
    """Return what to change in an agent that has just started.

    ``recorded`` is the conversation's last state of this agent. Without a recorded mode, ``asks``
    chooses the mode in which the agent asks. Only what the agent offers is chosen.
    """
    values = {} if recorded is None else {each.id: each.value for each in recorded.options}
    changes: list[PatchAgent] = []
    for option in facts.options:
        wanted = values.get(option.id)
        if option.category == MODE_CATEGORY:
            if facts.modes:
                continue  # reported twice
            wanted = wanted or (_asking([each.id for each in option.choices]) if asks else None)
        if wanted not in {None, option.value} and wanted in {each.id for each in option.choices}:
            changes.append(PatchAgent(option=option.id, value=wanted))
    modes = [each.id for each in facts.modes]
    mode = recorded.mode if recorded is not None else None
    mode = mode or (_asking(modes) if asks else None)
    if mode != facts.mode and mode in modes:
        changes.append(PatchAgent(mode=mode))
    return changes


def _asking(modes: list[str]) -> str | None:
    return next((mode for mode in ASKING_MODES if mode in modes), None)


def with_choice(state: AgentState, command: PatchAgent) -> AgentState:
    """Return the state with a choice for the next start.

    Raises ``InvalidRequest`` if the agent is known not to offer it.
    """
    changes: dict[str, object] = {}
    if command.mode is not None:
        _check(command.mode, [each.id for each in state.modes])
        changes["mode"] = command.mode
    if command.option is not None and command.value is not None:
        options = {each.id: each for each in state.options}
        known = options.get(command.option) or AgentOption(
            id=command.option, name=command.option, value=command.value, choices=()
        )
        _check(command.value, [each.id for each in known.choices])
        options[known.id] = known.model_copy(update={"value": command.value})
        changes["options"] = tuple(options.values())
    unstamped = {"seq": 0, "turn_id": None, "at": ""}
    return state.model_copy(update={**changes, **unstamped})


def _check(value: str, offered: list[str]) -> None:
    if offered and value not in offered:
        raise InvalidRequest(
            f"The agent does not offer {value!r}; nothing was changed.",
            hint=f"Choose one of: {', '.join(offered)}.",
        )


async def apply(connection: AgentConnection, command: PatchAgent) -> None:
    """Change the mode or an option of a running agent. Raises ``ProviderError``."""
    if command.mode is not None:
        await connection.set_mode(command.mode)
    if command.option is not None and command.value is not None:
        await connection.set_option(command.option, command.value)
