"""The demo's planner: a pure function from a request to the next step of an answer.

Selects a skill by the user's words, runs it from its start and feeds it the results of calls that
the conversation already has; the next call, or the answer, is the step. Used by ``provider``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.providers.demo.conversation import Task, read_task
from jupyter_ai_shoulders.providers.demo.inline import answer_inline, is_inline
from jupyter_ai_shoulders.providers.demo.intents import (
    Kind,
    RequestPart,
    kind_of_request,
    parts_of,
)
from jupyter_ai_shoulders.providers.demo.one_shot import answer_single, is_single
from jupyter_ai_shoulders.providers.demo.skill_protocol import (
    OutOfSteps,
    Skill,
    SkillCall,
    SkillFailed,
    SkillReply,
)
from jupyter_ai_shoulders.providers.demo.skills.checklist import checklist
from jupyter_ai_shoulders.providers.demo.skills.fix import explain, fix
from jupyter_ai_shoulders.providers.demo.skills.introduction import greet, outside
from jupyter_ai_shoulders.providers.demo.skills.multi_part import work_through_parts
from jupyter_ai_shoulders.providers.demo.skills.outline import outline
from jupyter_ai_shoulders.providers.demo.skills.plot import plot
from jupyter_ai_shoulders.providers.demo.skills.profile import profile

AGAIN = re.compile(
    r"\W*(?:(?:yes|ok(?:ay)?|sure|please|do|it|that|go|on|ahead|continue|again|try|once more|now)"
    r"\W*)+",
    re.IGNORECASE,
)
SKILLS: Mapping[Kind, Callable[[Task], Skill]] = {
    "fix": fix,
    "explain": explain,
    "plot": plot,
    "profile": profile,
    "checklist": checklist,
    "outline": outline,
    "greet": lambda _task: greet(),
    "outside": lambda _task: outside(),
}
MAX_CALLS = 200
"""Calls of one request after which the rules stop; a turn's step limit is far lower."""


def choose(task: Task) -> Skill:
    """Return the skill for a request, with the previous request where it continues that."""
    task = in_context(task)
    parts = parts_of(task.words)
    if len(parts) > 1:
        return work_through_parts(task, parts, begin)
    return begin(task, parts[0])


def begin(task: Task, part: RequestPart) -> Skill:
    """Return the skill for one part of a request."""
    return SKILLS[part.kind](replace(task, words=part.words))


def in_context(task: Task) -> Task:
    """Return the task with its words replaced where they are "yes" or the answer to a question."""
    said, earlier = task.words, task.earlier
    if not earlier:
        return task
    if AGAIN.fullmatch(said):
        trouble = kind_of_request(earlier) == "explain"
        return replace(task, words=f"fix it: {earlier}" if trouble else earlier, earlier="")
    if task.answering and kind_of_request(said) == "outside":
        return replace(task, words=f"{earlier}: {said}", earlier="")
    return task


def plan(request: ModelRequest) -> SkillReply:
    """Return the next step for a request."""
    if is_single(request):
        return answer_single(request)
    if is_inline(request):
        return answer_inline(request)
    task = read_task(request.messages, request.tools)
    return replay(choose(task), task)


def replay(skill: Skill, task: Task) -> SkillReply:
    """Run a skill through the existing results; it gets an error for calls it cannot make."""
    waiting = list(task.outcomes)
    try:
        act = next(skill)
        for _ in range(MAX_CALLS):
            obstacle = obstacle_to(act, task, waits=bool(waiting))
            if obstacle is not None:
                act = skill.throw(obstacle)
            elif not waiting:
                return SkillReply(act.say, act)
            elif waiting[0].tool != act.tool:
                return SkillReply(
                    "My rules do not cover what happened in this conversation. Ask me again."
                )
            else:
                act = skill.send(waiting.pop(0))
    except StopIteration as done:
        return SkillReply(str(done.value))
    except SkillFailed as reason:
        return SkillReply(str(reason))
    return SkillReply("I stopped: these are more calls than my rules need. Ask me again.")


def obstacle_to(act: SkillCall, task: Task, *, waits: bool) -> SkillFailed | None:
    """Return why a call cannot be made, or None; ``waits``: its result exists already."""
    if act.tool not in task.tools:
        return SkillFailed(f"For this I need the tool `{act.tool}`, which is switched off here.")
    if task.last_step and not waits and act.tool != "complete":
        return OutOfSteps(
            "I stop here, because this turn has no steps left. Say *go on* to continue."
        )
    return None
