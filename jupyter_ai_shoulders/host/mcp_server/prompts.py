"""Skills of the workspace as MCP prompts.

Used by ``host.mcp_server.protocol``. Skills that came with a folder the user does not trust are
left out: a prompt is taken as the user's own words.
"""

from __future__ import annotations

from dataclasses import dataclass

from mcp_types import GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.engine.environment.skills import Skill
from jupyter_ai_shoulders.engine.ports import Environment

TASK = "task"


@dataclass(frozen=True, slots=True)
class SkillPrompts:
    """Lists and reads skills."""

    environment: Environment

    async def listed(self) -> list[Prompt]:
        """Return the skills as prompts with one optional argument."""
        task = PromptArgument(name=TASK, description="What to do with it.", required=False)
        return [
            Prompt(name=skill.name, description=skill.description, arguments=[task])
            for skill in await self._skills()
        ]

    async def read(self, name: str, task: str | None) -> GetPromptResult:
        """Return a skill's text, and the task. Raises ``NotFound``."""
        skill = next((skill for skill in await self._skills() if skill.name == name), None)
        found = await self.environment.skill(skill) if skill is not None else None
        if skill is None or found is None or not found.reviewed:
            raise NotFound(f"There is no skill {name!r}.", hint="List the prompts again.")
        text = f"{found.text}\n\n{task}" if task else found.text
        message = PromptMessage(role="user", content=TextContent(text=text))
        return GetPromptResult(description=skill.description, messages=[message])

    async def _skills(self) -> list[Skill]:
        known = await self.environment.load_instructions()
        return [skill for skill in known.skills if skill.reviewed]
