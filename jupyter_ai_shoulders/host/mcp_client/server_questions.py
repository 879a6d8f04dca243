"""What MCP servers ask of their client: the user's answers, a model's answer, the folders.

``ServerRequests`` of ``mcp_client.ports``. Questions appear in the conversation whose call runs at
the server; where nobody can answer they are declined. Answers are never stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    PolicyRefusal,
    ShouldersError,
    StateUnavailable,
)
from jupyter_ai_shoulders.host.mcp_client.sampling import Sample, SampleText, Sampling
from jupyter_ai_shoulders.mcp_client.ports import ServerRoot
from jupyter_ai_shoulders.notebook.base import InputRecipient
from jupyter_ai_shoulders.notebook.execution.stdin import PendingInputs
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

if TYPE_CHECKING:
    import mcp_types

ATTEMPTS = 3
"""How often a field is asked about until its value is valid."""
MAX_QUESTIONS = 50
"""Questions of a server during one call."""
MAX_SAMPLES = 10
"""Answers of models during one call."""


class ServerQuestions:
    """Answers servers."""

    def __init__(
        self,
        running: RunningCalls,
        inputs: PendingInputs,
        root: Path,
        sampling: Sampling,
    ) -> None:
        self._running = running
        self._inputs = inputs
        self._root = root
        self._sampling = sampling

    def allows_sampling(self, server: str) -> bool:
        """See ``ServerRequests``."""
        return self._sampling.allows(server)

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
            questions = [FieldQuestion("", prompt, False, {"type": "boolean"}, True)]
        else:
            schema = cast("JsonObject", params.requested_schema)
            questions = form_questions(server, params.message, schema)
        try:
            return await self._form(call, questions)
        except Conflict:  # the call has ended
            return types.ElicitResult(action="cancel")

    async def sample(
        self, server: str, params: mcp_types.CreateMessageRequestParams
    ) -> mcp_types.CreateMessageResult | mcp_types.ErrorData:
        """Ask the conversation's model, once the user agreed to exactly this text."""
        import mcp_types as types

        call = self._running.asker(server)
        if not self._sampling.allows(server) or call is None or not call.context.interactive:
            return _refused("Asking a model is not allowed.")
        call.samples += 1
        if call.samples > MAX_SAMPLES or not self._may_ask(call):
            return _refused(f"A call may ask a model {MAX_SAMPLES} times at most.")
        try:
            sample = await self._sampled(call, self._sampling.text_of(params))
        except ShouldersError as error:
            return _refused(str(error))
        return types.CreateMessageResult(
            role="assistant",
            content=types.TextContent(text=sample.text),
            model=sample.model,
            stop_reason="maxTokens" if sample.is_cut else "endTurn",
        )

    async def _sampled(self, call: RunningCall, text: SampleText) -> Sample:
        """Return what the model answers. Raises ``ShouldersError``, also if the user declines."""
        model = self._sampling.model(call.context).spec.name
        question = (
            f"The MCP server {call.server} wants to send this text to {model}, at your expense. "
            "It gets the answer. Answer yes to allow it once.\n" + _quoted(str(text))
        )
        answer = await self.ask(call, question, choices=("yes",))
        if answer.strip().lower() not in {"yes", "y"}:
            call.outputs.put_nowait(Progress("status", "Nothing was sent to a model.\n"))
            raise PolicyRefusal("The user did not allow it.", code="denied")
        try:
            async with call.asking:
                sample = await call.while_running(self._sampling.send(text, call.context))
        except ShouldersError as error:  # what it says is for the user, not for the server
            call.outputs.put_nowait(Progress("status", f"No model answered: {_line(str(error))}\n"))
            raise StateUnavailable("The model could not be asked.") from error
        line = f"{model} answered the server ({sample.tokens:,} tokens): {_line(sample.text)}\n"
        call.outputs.put_nowait(Progress("status", line))
        return sample

    async def ask(
        self,
        call: RunningCall,
        prompt: str,
        *,
        password: bool = False,
        choices: tuple[str, ...] = (),
    ) -> str:
        """Return the user's answer to a question in the call's conversation.

        Raises ``Conflict`` when the call ends.
        """
        async with call.asking:
            asked = InputRequested(legible(prompt), password, choices)
            return await call.while_running(self._answer(call, asked))

    async def _answer(self, call: RunningCall, asked: InputRequested) -> str:
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
            call.outputs.put_nowait(asked)
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
                answer = await self.ask(
                    call, question.prompt, password=question.password, choices=question.choices
                )
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


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))


def _line(text: str) -> str:
    flat = " ".join(visible(text).split())
    return flat if len(flat) <= 200 else flat[:199] + "…"


def _refused(message: str) -> mcp_types.ErrorData:
    import mcp_types as types

    return types.ErrorData(code=types.INVALID_REQUEST, message=message)
