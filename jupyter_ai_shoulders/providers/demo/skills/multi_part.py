"""Works through a request with several parts, with a todo list and a final summary.

``planner`` passes the function that begins each part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from jupyter_ai_shoulders.providers.demo.conversation import Task
from jupyter_ai_shoulders.providers.demo.intents import RequestPart
from jupyter_ai_shoulders.providers.demo.skill_protocol import (
    OutOfSteps,
    Recipe,
    Skill,
    SkillCall,
    SkillFailed,
)

MAX_PARTS = 12
Begin = Callable[[Task, RequestPart], Skill]


def work_through_parts(task: Task, parts: Sequence[RequestPart], begin: Begin) -> Skill:
    """Do one part after the other."""
    more = f" (the first {MAX_PARTS}; ask again for the rest)" if len(parts) > MAX_PARTS else ""
    parts = parts[:MAX_PARTS]
    work = MultiPartWork(task, parts)
    without_list = {name: taken for name, taken in task.tools.items() if name != "todo"}
    alone = replace(task, tools=without_list)  # the list shows only the parts
    try:
        yield from work.show_list(
            f"These are {len(parts)} things{more}; I'll do one after the other."
        )
        for part in parts:
            answer = yield from work.do(begin(alone, part))
            yield from work.show_list(answer)
    except OutOfSteps as reason:
        return work.stopped(reason)
    return (yield from work.finish())


@dataclass(slots=True)
class MultiPartWork:
    """The parts, and the answers of completed ones."""

    task: Task
    parts: Sequence[RequestPart]
    answers: list[str] = field(default_factory=list[str])
    gave_up: set[int] = field(default_factory=set[int])
    unsaid: list[str] = field(default_factory=list[str])

    def do(self, skill: Skill) -> Recipe[str]:
        """Do one part and return its answer; a failure is its answer."""
        try:
            answer = yield from skill
        except OutOfSteps:
            raise
        except SkillFailed as reason:
            self.gave_up.add(len(self.answers))
            answer = str(reason)
        self.answers.append(answer)
        return answer

    def show_list(self, say: str) -> Recipe[None]:
        """Show the progress of the list; without the tool, collect the text for the end."""
        self.unsaid.append(say)
        if "todo" in self.task.tools:
            said = "\n\n".join(self.unsaid)
            self.unsaid.clear()
            outcome = yield SkillCall("todo", {"markdown": self.markdown()}, said)
            if outcome.is_error:
                self.unsaid.append("(The list could not be shown.)")

    def markdown(self) -> str:
        """Return the list; a part that failed stays open."""
        done = set(range(len(self.answers))) - self.gave_up
        return "\n".join(
            f"- [{'x' if position in done else ' '}] {part.title}"
            for position, part in enumerate(self.parts)
        )

    def finish(self) -> Recipe[str]:
        """End the turn with a summary, or with the collected text."""
        rest = "\n\n".join(self.unsaid)
        if "complete" not in self.task.tools:
            return rest or self.summary()
        outcome = yield SkillCall("complete", {"summary": self.summary()}, rest)
        return self.summary() if outcome.is_error else "That is all."

    def summary(self) -> str:
        """Return the result of each part, one line each."""
        lines = [
            f"- {part.title}: {first_sentence(answer)}"
            for part, answer in zip(self.parts, self.answers, strict=False)
        ]
        done = len(self.answers) - len(self.gave_up)
        return "\n".join([f"{done} of {len(self.parts)} parts of the request are done.", *lines])

    def stopped(self, reason: OutOfSteps) -> str:
        """Return the answer when the turn allows no further calls."""
        return "\n\n".join(filter(None, [*self.unsaid, self.summary(), str(reason)]))


def first_sentence(answer: str) -> str:
    """Return the first line of an answer that states its result."""
    lines = [line for line in answer.split("\n") if line.strip()]
    ended = [line for line in lines if line.startswith(("I ran cell", "It still fails"))]
    return (ended or lines or ["no answer"])[0].strip()
