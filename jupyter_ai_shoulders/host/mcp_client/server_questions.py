"""What MCP servers ask of their client: the user's answers, a model's answer, the folders.

``ServerRequests`` of ``mcp_client.ports``. Questions appear in the conversation whose call runs at
the server; where nobody can answer they are declined. Answers are never stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pydantic import BaseModel

from jupyter_ai_shoulders.assist.one_shot import OneShotCalls, OneShotQuestion
from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.mcp_client.ports import ServerRoot
from jupyter_ai_shoulders.notebook.base import InputRecipient
from jupyter_ai_shoulders.notebook.execution.stdin import PendingInputs
from jupyter_ai_shoulders.storage.base import Sessions
from jupyter_ai_shoulders.tools.base import InputEnded, InputRequested, Progress
from jupyter_ai_shoulders.tools.mcp.form_questions import (
    FieldQuestion,
    form_questions,
    given_action,
    link_question,
)
from jupyter_ai_shoulders.tools.mcp.running_calls import RunningCall, RunningCalls
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.hidden_characters import legible, visible
from jupyter_ai_shoulders.wire.ids import ModelId

if TYPE_CHECKING:
    import mcp_types

ATTEMPTS = 3
"""How often a field is asked about until its value is valid."""
MAX_QUESTIONS = 50
"""Questions of a server during one call."""
SHOWN_PROMPT = 1_500
MAX_PROMPT = 40_000
MAX_OUTPUT = 2_000


class ModelText(BaseModel):
    """The answer of a model to a server."""

    text: str


class ServerQuestions:
    """Answers servers."""

    def __init__(
        self,
        running: RunningCalls,
        inputs: PendingInputs,
        root: Path,
        *,
        models: OneShotCalls,
        sessions: Sessions,
        model_of: Callable[[ModelId | None], ModelId],
        sampling: Callable[[], bool],
    ) -> None:
        """``model_of`` returns the model for that of a conversation.

        ``sampling`` returns whether servers may ask a model at all.
        """
        self._running = running
        self._inputs = inputs
        self._root = root
        self._models = models
        self._sessions = sessions
        self._model_of = model_of
        self._sampling = sampling

    def allows_sampling(self, server: str) -> bool:
        """See ``ServerRequests``."""
        del server
        return self._sampling()

    def allows_elicitation(self, server: str) -> bool:
        """See ``ServerRequests``; whether somebody can answer is known when it asks."""
        del server
        return True

    def roots(self, server: str) -> Sequence[ServerRoot]:
        """Return the workspace, and nothing else."""
        del server
        return (ServerRoot(self._root.as_uri(), self._root.name),)

    async def elicit(
        self, server: str, params: mcp_types.ElicitRequestParams
    ) -> mcp_types.ElicitResult | mcp_types.ErrorData:
        """Ask the user, one field after the other."""
        import mcp_types as types

        call = self._running.asker(server)
        if call is None or not call.context.interactive or not self._may_ask(call):
            return types.ElicitResult(action="decline")
        if isinstance(params, types.ElicitRequestURLParams):
            prompt = link_question(server, params.message, params.url)
            question = FieldQuestion("", prompt, False, {"type": "boolean"}, True)
            return await self._form(call, [question])
        schema = cast("JsonObject", params.requested_schema)
        return await self._form(call, form_questions(server, params.message, schema))

    async def sample(
        self, server: str, params: mcp_types.CreateMessageRequestParams
    ) -> mcp_types.CreateMessageResult | mcp_types.ErrorData:
        """Ask a model for the server, once the user agreed to exactly this text."""
        import mcp_types as types

        call = self._running.asker(server)
        prompt = _prompt_of(params)
        if not self._sampling() or call is None or not call.context.interactive:
            return _refused("Asking a model is not allowed.")
        if prompt is None or not self._may_ask(call):
            return _refused("Only texts of limited length can be sent to a model.")
        shown = prompt if len(prompt) <= SHOWN_PROMPT else prompt[:SHOWN_PROMPT] + " […]"
        question = (
            f"The MCP server {server} wants to send this to a model, at your expense:\n{shown}\n"
            f"({len(prompt)} characters) Answer yes to allow it once."
        )
        answer = await self.ask(call, question, password=False)
        if answer.strip().lower() not in {"yes", "y"}:
            return _refused("The user did not allow it.")
        try:
            said = await self._models.ask(*self._question(call, prompt, params))
        except ShouldersError as error:
            return _refused(str(error))
        line = f"A model answered the server: {_line(said.value.text)}\n"
        call.outputs.put_nowait(Progress("status", line))
        return types.CreateMessageResult(
            role="assistant",
            content=types.TextContent(text=said.value.text),
            model=said.model,
            stop_reason="endTurn",
        )

    async def ask(self, call: RunningCall, prompt: str, *, password: bool) -> str:
        """Return the user's answer to a question in the call's conversation."""
        async with call.asking:
            context = call.context
            asker = InputRecipient(context.session_id, context.call_id, context.interactive)
            given: asyncio.Future[str] = asyncio.get_running_loop().create_future()

            def submit(text: str) -> bool:
                if given.done():
                    return False
                given.set_result(text)
                return True

            self._inputs.register(asker, submit)
            try:
                call.outputs.put_nowait(InputRequested(legible(prompt), password))
                answer = await given
                call.outputs.put_nowait(InputEnded(answered=True))
                return answer
            finally:
                self._inputs.unregister(asker)

    async def _form(
        self, call: RunningCall, questions: Sequence[FieldQuestion]
    ) -> mcp_types.ElicitResult:
        import mcp_types as types

        content: dict[str, str | int | float | bool | list[str] | None] = {}
        for question in questions:
            for attempt in range(1, ATTEMPTS + 1):
                answer = await self.ask(call, question.prompt, password=question.password)
                action = given_action(answer)
                if action != "accept":
                    return types.ElicitResult(action=action)
                try:
                    value = question.value(answer)
                except ValueError as error:
                    if attempt == ATTEMPTS:
                        return types.ElicitResult(action="cancel")
                    call.outputs.put_nowait(Progress("status", f"Not a valid answer: {error}.\n"))
                    continue
                if not question.name:  # a plain yes or no
                    return types.ElicitResult(action="accept" if value else "decline", content={})
                if value is not None:
                    content[question.name] = value
                break
        return types.ElicitResult(action="accept", content=content)

    def _may_ask(self, call: RunningCall) -> bool:
        """Count a question of a call; too many are declined."""
        call.questions += 1
        return call.questions <= MAX_QUESTIONS

    def _question(
        self, call: RunningCall, prompt: str, params: mcp_types.CreateMessageRequestParams
    ) -> tuple[OneShotQuestion, type[ModelText], ModelId]:
        session = self._sessions.get(call.context.session_id)
        question = OneShotQuestion(
            system=params.system_prompt or "Answer the request.",
            prompt=prompt,
            purpose="Give the answer as text.",
            account=UsageAccount("other", session.id, call.context.turn_id, session.owner),
            max_output=max(1, min(params.max_tokens, MAX_OUTPUT)),
        )
        return question, ModelText, self._model_of(session.model)


def _prompt_of(params: mcp_types.CreateMessageRequestParams) -> str | None:
    """Return the texts of the request; None if there is anything else, or too much."""
    lines: list[str] = []
    for message in params.messages[:50]:
        blocks = message.content if isinstance(message.content, list) else [message.content]
        for block in blocks:
            if block.type != "text":
                return None
            lines.append(f"{message.role}: {block.text}")
    text = visible("\n\n".join(lines))
    return text if len(text) <= MAX_PROMPT else None


def _line(text: str) -> str:
    flat = " ".join(visible(text).split())
    return flat if len(flat) <= 200 else flat[:199] + "…"


def _refused(message: str) -> mcp_types.ErrorData:
    import mcp_types as types

    return types.ErrorData(code=types.INVALID_REQUEST, message=message)
