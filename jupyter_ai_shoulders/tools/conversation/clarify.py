"""The tool that asks the user a question. Registered by ``host``.

The engine waits for the answer, which becomes the call's result. In a session without a user, the
question ends the turn.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from pydantic import Field

from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    UserQuestion,
    refusal,
    text_content,
)
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.results import ToolEnvelope

OPTIONS = 6
OPTION_LENGTH = 80
"""Most characters of an option; a question has at most ``OPTIONS``."""
TITLE_LENGTH = 60


class ClarifyArguments(ToolArguments):
    """Arguments of ``clarify``."""

    question: str = Field(max_length=4_000, description="One question, as the user reads it.")
    options: tuple[Annotated[str, Field(max_length=OPTION_LENGTH)], ...] = Field(
        default=(),
        description=f"Answers to choose from, at most {OPTIONS}; the user may also answer freely.",
    )
    allow_multiple: bool = Field(default=False, description="Whether several may be chosen.")


class Clarify(BaseTool[ClarifyArguments]):
    """Asks, and waits for the answer."""

    name = "clarify"
    category = "loop"
    risk = "read"
    idempotent = False
    arguments = ClarifyArguments

    async def subject(self, args: ClarifyArguments, context: CallContext) -> CallSubject:
        line = " ".join(args.question.split())
        shown = line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"
        return CallSubject(title=f"Ask: {shown}", target_label=None, target=Target())

    async def run(
        self, args: ClarifyArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Ask, or refuse an invalid question."""
        question, options = args.question.strip(), distinct_options(args.options)
        if not question:
            yield refusal("The question is empty; nobody was asked.", "Say what you need to know.")
        elif len(options) > OPTIONS:
            yield refusal(
                f"{len(options)} options are too many; nobody was asked.",
                f"Give at most {OPTIONS}; the user may also answer freely.",
            )
        else:
            yield _asked(UserQuestion(question, options, args.allow_multiple and len(options) > 1))


def distinct_options(options: tuple[str, ...]) -> tuple[str, ...]:
    """Return the distinct options that are not blank."""
    lines = (" ".join(option.split()) for option in options)
    return tuple(dict.fromkeys(line for line in lines if line))


def _asked(question: UserQuestion) -> Result:
    options: list[Json] = list(question.options)
    choices = f" ({' / '.join(question.options)})" if options else ""
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="text",
            data={
                "summary": question.text + choices,
                "question": question.text,
                "options": options,
                "allow_multiple": question.allow_multiple,
            },
        ),
        content=text_content("Nobody is there to answer; the turn ends with this question."),
        ends_turn=True,
        question=question,
    )
