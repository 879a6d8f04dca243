"""Model ids of agents that are not ours: they decide what happens in a turn, and our engine runs,
asks and records what they request.

``agent:<name>`` is an agent in the panel (ACP); ``client:<name>`` a program that calls our tools
(MCP); ``schedule:Schedule`` the plan of a scheduled run of a notebook.

Used by ``engine``, which leaves guidance and limits for language models out of their turns,
and by ``host``, which resolves the ids.
"""

from __future__ import annotations

from jupyter_ai_shoulders.wire.ids import ModelId

AGENT_PREFIX = "agent:"
CLIENT_PREFIX = "client:"
SCHEDULE_PREFIX = "schedule:"
SCHEDULE_MODEL = ModelId(f"{SCHEDULE_PREFIX}Schedule")


def is_external_agent(model_id: ModelId) -> bool:
    """Return whether the turns of this model are led by a program that is not ours."""
    return model_id.startswith((AGENT_PREFIX, CLIENT_PREFIX, SCHEDULE_PREFIX))


def is_client(model_id: ModelId) -> bool:
    """Return whether a client of our MCP server or a plan leads the turns: it reads no messages."""
    return model_id.startswith((CLIENT_PREFIX, SCHEDULE_PREFIX))


def program_name(model_id: str | None) -> str | None:
    """Return the name of the agent or client with this model id; None for a language model."""
    if model_id is None or not is_external_agent(ModelId(model_id)):
        return None
    return model_id.partition(":")[2]
