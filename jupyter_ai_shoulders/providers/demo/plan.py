"""The demo's planner: a pure function from a request to the next step of an answer.

It picks a skill by the user's words, runs it from its start and feeds it the outcomes that the
conversation already holds; where they end stands the next call, or the answer. Called by
``provider``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.providers.demo.conversation import Task, read_task
from jupyter_ai_shoulders.providers.demo.skills.about import greet, outside
from jupyter_ai_shoulders.providers.demo.skills.fix import explain, fix
from jupyter_ai_shoulders.providers.demo.skills.outline import outline
from jupyter_ai_shoulders.providers.demo.skills.plot import plot
from jupyter_ai_shoulders.providers.demo.steps import Act, GiveUp, Outcome, Skill


@dataclass(frozen=True, slots=True)
class Reply:
    """One step: text, and a call unless the answer is complete."""

    text: str
    act: Act | None = None


def words(*alternatives: str) -> re.Pattern[str]:
    """Return a pattern that finds any of these as words."""
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b", re.IGNORECASE)


FIX = words(
    "fix(?:es|ed|ing)?", "repair", "correct (?:it|this|the)", "debug", "solve", "make it work"
)
TROUBLE = words(
    "errors?",
    "fail(?:s|ed|ing|ure)?",
    "broken?",
    "traceback",
    "exception",
    r"\w+Error",
    "(?:does not|doesn't|doesnt|not) work(?:ing)?",
    "bugs?",
    "wrong",
    "crash(?:es|ed)?",
)
WHY = words(
    "why", "explain", "what does", "what is", "what's", "mean(?:s|ing)?", "understand", "cause"
)
PLOT = words(
    "plot(?:s|ted|ting)?",
    "charts?",
    "graphs?",
    "draw",
    "histograms?",
    "visuali[sz]e",
    "scatter(?: ?plot)?",
    "bar chart",
    "distribution",
    "picture",
)
OUTLINE = words(
    "outline",
    "overview",
    "summar(?:y|ize|ise|ies)",
    "structure",
    "sections",
    "describe",
    "what (?:is|does) (?:in )?th(?:is|e) notebook",
    "explain (?:this|the) notebook",
    "what(?:'s| is) in",
)
GREETING = words(
    "hi",
    "hello",
    "hey",
    "good (?:morning|afternoon|evening)",
    "help",
    "what can you",
    "who are you",
    "what are you",
    "are you (?:an? )?(?:ai|model|real)",
)


AGAIN = re.compile(
    r"\W*(?:(?:yes|ok(?:ay)?|sure|please|do|it|that|go|on|ahead|continue|again|try|once more|now)"
    r"\W*)+",
    re.IGNORECASE,
)


def choose(task: Task) -> Skill:
    """Return the skill for what the user says; a mere "yes, go on" means the request before."""
    said = task.words
    if AGAIN.fullmatch(said) and task.earlier:
        said = task.earlier
        task = replace(task, words=said, earlier="")
        if TROUBLE.search(said):
            return fix(task)
    if FIX.search(said):
        return fix(task)
    if TROUBLE.search(said):
        return explain(task) if WHY.search(said) else fix(task)
    for pattern, skill in ((PLOT, plot), (OUTLINE, outline)):
        if pattern.search(said):
            return skill(task)
    return greet() if GREETING.search(said) else outside()


def plan(request: ModelRequest) -> Reply:
    """Return the next step for a request."""
    task = read_task(request.messages)
    reply = replay(choose(task), task.outcomes)
    offered = {tool.name for tool in request.tools}
    if reply.act is not None and reply.act.tool not in offered:
        return Reply(f"For this I need the tool `{reply.act.tool}`, which is switched off here.")
    return reply


def replay(skill: Skill, outcomes: Sequence[Outcome]) -> Reply:
    """Run a skill through the outcomes there are."""
    try:
        act = next(skill)
        for outcome in outcomes:
            if outcome.tool != act.tool:
                return Reply(
                    "This conversation has gone another way than my rules know. Ask me again."
                )
            act = skill.send(outcome)
    except StopIteration as done:
        return Reply(str(done.value))
    except GiveUp as reason:
        return Reply(str(reason))
    return Reply(act.say, act)
