"""Resolves the models of the catalogue, and the agents of others by the prefix of their id.

Made by ``host.build``; the engine and the sessions resolve through it. An agent is a "model" whose
provider relays what the agent asks for: text becomes the answer, requests become tool calls, so the
engine asks, records, reviews and undoes them like calls of a language model.
"""

from __future__ import annotations

from typing import Protocol

from jupyter_ai_shoulders.core.catalogue.external_agents import is_external_agent
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.engine.ports import Models
from jupyter_ai_shoulders.providers.base import ResolvedModel
from jupyter_ai_shoulders.wire.ids import ModelId


class ExternalAgents(Protocol):
    """Resolves the ids of one prefix (``core.catalogue.external_agents``)."""

    def resolve(self, model_id: ModelId) -> ResolvedModel:
        """Return the agent as a model; starts nothing. Raises ``InvalidRequest`` (unknown)."""
        ...


class RoutedModels(Models):
    """The engine's models: those of the catalogue and the agents of others."""

    def __init__(self, catalogue: Models) -> None:
        self._catalogue = catalogue
        self._agents: dict[str, ExternalAgents] = {}

    def add(self, prefix: str, agents: ExternalAgents) -> None:
        """Resolve ids with this prefix by ``agents``."""
        self._agents[prefix] = agents

    async def refresh_default(self) -> None:
        await self._catalogue.refresh_default()

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        """Return the model or agent. Raises as ``Models.resolve``."""
        if model_id is None or not is_external_agent(model_id):
            return self._catalogue.resolve(model_id)
        prefix = f"{model_id.partition(':')[0]}:"
        agents = self._agents.get(prefix)
        if agents is None:
            raise InvalidRequest(
                f"There is no agent {model_id}.",
                code="unknown_model",
                hint="Pick a model or an agent from the list.",
            )
        return agents.resolve(model_id)
