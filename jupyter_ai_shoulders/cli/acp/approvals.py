"""Asks the editor for a decision and returns it as an answer. Used by ``cli.acp.conversation``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp import helpers

from jupyter_ai_shoulders.cli.acp.diffs import proposed_changes
from jupyter_ai_shoulders.client.approval_text import always_line, effects_line
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import AnswerApproval, AnswerQuestion

if TYPE_CHECKING:
    from acp import schema

_SCOPES: dict[ev.ApprovalScope, str] = {
    "once": "Allow once",
    "document": "Allow for this document",
    "session": "Allow in this conversation",
    "always": "Always allow",
}
DENY = "deny"
SKIP = "skip"


def approval_options(question: ev.ApprovalRequest) -> list[schema.PermissionOption]:
    """Return the answers that an approval offers."""
    from acp.schema import PermissionOption

    allow = [
        PermissionOption(
            option_id=scope,
            name=_SCOPES[scope],
            kind="allow_once" if scope == "once" else "allow_always",
        )
        for scope in question.scopes
    ]
    return [*allow, PermissionOption(option_id=DENY, name="Deny", kind="reject_once")]


def approval_content(question: ev.ApprovalRequest, workspace: Path) -> list[Any]:
    """Return what the user needs to decide: the reason, the exact effect, hints."""
    diffs = proposed_changes(question, workspace)
    text = _approval_text(question, preview=not diffs)
    return [helpers.tool_content(helpers.text_block(text)), *diffs]


def _approval_text(question: ev.ApprovalRequest, *, preview: bool) -> str:
    parts = [question.reason.text, effects_line(question) or ""]
    if question.preview and preview:
        parts.append(f"```{question.language or ''}\n{question.preview}\n```")
    if "always" in question.scopes:
        parts.append(f"Always allows: {always_line(question)}")
    return "\n\n".join(filter(None, parts))


def approval_answer(
    question: ev.ApprovalRequest, response: schema.RequestPermissionResponse
) -> AnswerApproval:
    """Return the answer; a dismissed question is a denial."""
    outcome = response.outcome
    if outcome.outcome == "selected":
        for scope in question.scopes:
            if scope == outcome.option_id:
                return AnswerApproval(decision="allow", scope=scope)
    return AnswerApproval(decision="deny")


def question_options(question: ev.ClarifyRequest) -> list[schema.PermissionOption]:
    """Return the options of a question of the agent."""
    from acp.schema import PermissionOption

    options = [
        PermissionOption(option_id=str(number), name=option, kind="allow_once")
        for number, option in enumerate(question.options)
    ]
    return [*options, PermissionOption(option_id=SKIP, name="Answer in words", kind="reject_once")]


def question_answer(
    question: ev.ClarifyRequest, response: schema.RequestPermissionResponse
) -> AnswerQuestion | None:
    """Return the chosen option; None when the user answers with the next prompt."""
    outcome = response.outcome
    if outcome.outcome != "selected" or not outcome.option_id.isdecimal():
        return None
    number = int(outcome.option_id)
    return (
        AnswerQuestion(answer=question.options[number]) if number < len(question.options) else None
    )
