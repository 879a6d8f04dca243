"""Entries of ``acp_agents``: agents of others that a user or an administrator named.

Pure; used by ``host.external_agents.agent_catalogue``. An entry::

    {"gemini": {"command": ["gemini", "--acp"], "env": {"GEMINI_API_KEY": "${GEMINI_API_KEY}"}}}

Only the given fields of an entry change those of a known agent, or of an entry with less weight.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

NAME = r"[a-z0-9][a-z0-9._-]{0,63}"
"""What an agent may be called: part of the model id ``agent:<name>``."""
MOST_ENTRIES = 50

Word = Annotated[str, Field(max_length=4096)]


class AgentEntry(BaseModel):
    """What an entry says; fields that it does not have keep their values."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: tuple[Word, ...] | None = Field(default=None, min_length=1, max_length=100)
    """The program and its arguments; a string is split as in a shell."""
    title: str | None = Field(default=None, min_length=1, max_length=80)
    install: str | None = Field(default=None, max_length=500)
    """The command that installs it."""
    env: dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], Word] | None = None
    """Further variables; ``${NAME}`` is the server's variable or stored key of that name."""
    proxy: bool | None = None
    """Whether its models are called through our model proxy, on the conversation's budget."""
    disabled: bool | None = None

    @field_validator("command", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(shlex.split(value)) if isinstance(value, str) else value

    def over(self, other: AgentEntry | None) -> AgentEntry:
        """Return ``other`` with the given fields of this entry."""
        if other is None:
            return self
        given = {name: getattr(self, name) for name in self.model_fields_set}
        return other.model_copy(update=given)


@dataclass(frozen=True, slots=True)
class AgentEntries:
    """The valid entries of one source by name, and the errors of the others."""

    entries: Mapping[str, AgentEntry] = field(default_factory=dict[str, AgentEntry])
    problems: Mapping[str, str] = field(default_factory=dict[str, str])
    """By name; the name is empty when the whole source is not used."""


def parse_entries(found: object) -> AgentEntries:
    """Return the entries of a parsed ``acp_agents``. Never raises."""
    if found is None:
        return AgentEntries()
    if not isinstance(found, Mapping):
        return AgentEntries(problems={"": "acp_agents is not an object; it is not used."})
    entries: dict[str, AgentEntry] = {}
    problems: dict[str, str] = {}
    values = cast("Mapping[object, Any]", found)
    for key, value in islice(values.items(), MOST_ENTRIES):
        name = str(key)
        try:
            _Named(name=name)
            entries[name] = AgentEntry.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            problems[name[:80]] = f"acp_agents.{name[:80]}: {place}: {first['msg']}"
    return AgentEntries(entries, problems)


class _Named(BaseModel):
    name: str = Field(pattern=f"^{NAME}$")
