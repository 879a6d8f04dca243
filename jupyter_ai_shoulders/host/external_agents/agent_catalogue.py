"""The agents of others that can answer in the panel, and the commands that start them.

Made by ``ProtocolServices``. Known agents are looked up by the name of their program and not run.
Entries of the user's ``~/.shoulders/settings.json`` change known agents and add others, those of
``Shoulders.acp_agents`` win over both; a folder cannot name agents. Where the administrator locked
the list, only the agents of ``Shoulders.acp_agents`` can be used.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from jupyter_ai_shoulders.core.catalogue.external_agents import AGENT_PREFIX
from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal, StateUnavailable
from jupyter_ai_shoulders.core.variable_expansion import MissingVariable
from jupyter_ai_shoulders.guard.process.program_lookup import find_program
from jupyter_ai_shoulders.host.external_agents.agent_configuration import (
    AgentEntries,
    AgentEntry,
    parse_entries,
)
from jupyter_ai_shoulders.host.external_agents.agent_environment import agent_environment
from jupyter_ai_shoulders.host.external_agents.known_agents import KNOWN_AGENTS
from jupyter_ai_shoulders.host.shared_services import SETTINGS, STATE_DIR, SharedServices
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.wire.api.agents import AgentInfo, AgentList
from jupyter_ai_shoulders.wire.ids import ModelId

KEY = "acp_agents"
"""In the user's settings file."""
AgentSource = Literal["known", "user", "administrator"]
PACKAGE_MISSING = (
    'Agents need an optional package. Install it with: pip install "jupyter-ai-shoulders[acp]"'
)


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent that can be started."""

    name: str
    title: str
    program: str
    arguments: tuple[str, ...]
    env: Mapping[str, str]
    """Variables of its entry, with ``${NAME}`` unexpanded."""
    source: AgentSource
    install: str | None = None
    problem: str | None = None
    """Why it may not be used."""
    proxy: bool = False
    """Whether its models are called through our model proxy."""

    @property
    def id(self) -> ModelId:
        """The id by which it is chosen like a model."""
        return ModelId(f"{AGENT_PREFIX}{self.name}")


@dataclass(frozen=True, slots=True)
class AgentVariables:
    """Where the variables of an agent come from."""

    environ: Mapping[str, str]
    """The environment of child processes."""
    lookup: Callable[[str], str | None]
    """Returns a variable or stored key; asked only for names in an agent's entry."""


class AgentCatalogue:
    """The known and configured agents."""

    def __init__(
        self,
        trait: Mapping[str, Any],
        user: StateFile,
        variables: AgentVariables,
        *,
        is_locked: bool = False,
    ) -> None:
        self._fixed = parse_entries(trait)
        self._user = user
        self._variables = variables
        self._is_locked = is_locked

    async def listing(self) -> AgentList:
        """Return all agents, those that are installed first; looks for their programs."""
        found = await asyncio.to_thread(self._infos)
        found.sort(key=lambda info: not info.installed)
        return AgentList(agents=tuple(found), problem=None if has_package() else PACKAGE_MISSING)

    def agent(self, model_id: ModelId) -> Agent:
        """Return an agent that may be used. Raises ``InvalidRequest``, ``PolicyRefusal``."""
        agent = next((agent for agent in self._agents() if agent.id == model_id), None)
        if agent is None:
            raise InvalidRequest(
                f"There is no agent {model_id}.",
                code="unknown_model",
                hint="Pick a model or an agent from the list.",
            )
        if agent.problem is not None:
            raise PolicyRefusal(
                f"{agent.title} cannot be used. {agent.problem}",
                hint="Pick another agent or a model.",
            )
        return agent

    def environment(self, agent: Agent) -> dict[str, str]:
        """Return the variables it is started with. Raises ``InvalidRequest`` (one is missing)."""
        variables = self._variables
        try:
            return agent_environment(variables.environ, agent.env, variables.lookup)
        except MissingVariable as error:
            raise InvalidRequest(
                f"{agent.title} needs the variable {error.name}, which is not set.",
                code="no_key",
                hint=f"Set it before JupyterLab starts, or change {KEY} in the settings.",
            ) from error

    def _infos(self) -> list[AgentInfo]:
        path = self._variables.environ.get("PATH")
        return [_info(agent, find_program(agent.program, path)) for agent in self._agents()]

    def _agents(self) -> Iterator[Agent]:
        """Yield the known agents with their changes, then the others, then faulty entries."""
        user = AgentEntries() if self._is_locked else self._user_entries()
        merged = dict(user.entries)
        for name, entry in self._fixed.entries.items():
            merged[name] = entry.over(merged.get(name))
        for known in KNOWN_AGENTS:
            agent = Agent(
                known.name,
                known.title,
                known.program,
                known.arguments,
                env={},
                source="known",
                install=known.install,
            )
            yield self._changed(agent, merged.pop(known.name, None))
        for name, entry in merged.items():
            agent = Agent(name, name, "", (), env={}, source="user")
            yield self._changed(agent, entry)
        for name, problem in {**user.problems, **self._fixed.problems}.items():
            source = "administrator" if name in self._fixed.problems else "user"
            yield Agent(name or KEY, name or KEY, "", (), {}, source, problem=problem)

    def _changed(self, agent: Agent, entry: AgentEntry | None) -> Agent:
        is_fixed = agent.name in self._fixed.entries
        if entry is None:
            return self._judged(agent, entry, is_fixed=is_fixed)
        program, *arguments = entry.command or (agent.program, *agent.arguments)
        changed = replace(
            agent,
            title=entry.title or agent.title,
            program=program,
            arguments=tuple(arguments),
            env=entry.env or {},
            proxy=entry.proxy or False,
            install=entry.install or (None if entry.command else agent.install),
            source="administrator" if is_fixed else "user",
        )
        return self._judged(changed, entry, is_fixed=is_fixed)

    def _judged(self, agent: Agent, entry: AgentEntry | None, *, is_fixed: bool) -> Agent:
        """Return the agent with the reason why it may not be used, if there is one."""
        if self._is_locked and not is_fixed:
            problem = "Your administrator has limited the agents that can be used."
        elif entry is not None and entry.disabled:
            where = "your administrator" if is_fixed else f"{KEY} in your settings"
            problem = f"It is switched off by {where}."
        elif not agent.program:
            problem = f"Its entry in {KEY} has no command."
        else:
            return agent
        return replace(agent, problem=problem)

    def _user_entries(self) -> AgentEntries:
        try:
            text = self._user.read()
            found: Any = json.loads(text) if text and text.strip() else {}
        except StateUnavailable as error:
            return AgentEntries(problems={"": str(error)})
        except (ValueError, RecursionError):
            return AgentEntries()  # the settings report it
        if not isinstance(found, dict):
            return AgentEntries()
        return parse_entries(cast("dict[str, Any]", found).get(KEY))


def agent_catalogue(services: SharedServices) -> AgentCatalogue:
    """Return the catalogue of a host."""
    settings, keys = services.settings, services.keys

    def lookup(name: str) -> str | None:
        key = keys.get(name)
        return None if key is None else key.value

    return AgentCatalogue(
        settings.acp_agents,
        StateFile(StateDirectory(settings.home / STATE_DIR), SETTINGS),
        AgentVariables(services.ports.environ, lookup),
        is_locked=settings.locks_acp_agents,
    )


def _info(agent: Agent, found: str | None) -> AgentInfo:
    return AgentInfo(
        id=agent.id,
        title=agent.title,
        command=shlex.join((agent.program, *agent.arguments)) if agent.program else "",
        installed=found is not None,
        install=agent.install,
        source=agent.source,
        problem=agent.problem,
    )


def has_package() -> bool:
    """Return whether the SDK is installed."""
    return importlib.util.find_spec("acp") is not None
