"""One question to a model and one validated answer; used for suggestions, titles and summaries.

By its catalogue entry, a model is held to the answer's form by a forced tool, by a JSON Schema as
response format, or by instructions. An invalid answer is sent back once for correction.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from jupyter_ai_shoulders.assist.json_answers import Schema, answer_schema, find_json_object
from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.providers.base import (
    ModelReply,
    ModelRequest,
    NamedTool,
    ResolvedModel,
    ToolCallReady,
)
from jupyter_ai_shoulders.providers.streaming.collect_reply import collect_reply
from jupyter_ai_shoulders.wire.errors import ErrorCode
from jupyter_ai_shoulders.wire.ids import ModelId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    TextPart,
    ToolDefinition,
    UserMessage,
)
from jupyter_ai_shoulders.wire.usage import TokenUsage

Form = Literal["tool", "schema", "words"]
AnswerT = TypeVar("AnswerT", bound=BaseModel)

TOOL = "answer"
MAX_REPAIR_LENGTH = 8_000
"""Characters; a longer invalid answer is not sent back, because it costs too much."""

_SCHEMA_INSTRUCTION = (
    "Answer with one JSON object and nothing else: no remarks, no code fence. It must follow this"
    " JSON Schema:\n"
)
_CORRECTION = "That does not fit: {problem}. Send the whole answer again, corrected."


class ModelResolver(Protocol):
    """Finds models by id; implemented by ``providers.registry``."""

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        """Return the model. Raises ``ShouldersError``."""
        ...


@dataclass(frozen=True, slots=True)
class OneShotQuestion:
    """A question. ``purpose`` describes the form in a few words: "Give the title."."""

    system: str
    prompt: str
    purpose: str
    account: UsageAccount
    max_output: int = 1_024
    """Tokens; never more than the user's own limit."""


@dataclass(frozen=True, slots=True)
class OneShotAnswer(Generic[AnswerT]):
    """A validated answer; ``usage`` covers all attempts."""

    value: AnswerT
    model: ModelId
    usage: TokenUsage
    attempts: int


class OneShotCalls:
    """Sends questions to models; safe for concurrent calls. Cancelling a call closes its
    connection.
    """

    def __init__(self, models: ModelResolver, preferences: Callable[[], ModelPreferences]) -> None:
        self._models = models
        self._preferences = preferences

    async def ask(
        self, question: OneShotQuestion, kind: type[AnswerT], model_id: ModelId
    ) -> OneShotAnswer[AnswerT]:
        """Return the model's answer as a ``kind``.

        Raises ``PolicyRefusal`` (budget; nothing was sent), ``InvalidRequest`` (unknown model, no
        key) and ``ProviderError``: ``provider_timeout`` after the user's time limit for single
        calls, ``provider_protocol`` for an answer that is still invalid after the correction.
        """
        resolved = self._models.resolve(model_id)
        limits = self._preferences()
        bounded = output_limit(resolved.spec, question.max_output, limits.single_call_max_tokens)
        exchange = _Exchange(resolved, replace(question, max_output=bounded), kind)
        try:
            async with asyncio.timeout(limits.single_call_timeout_s):
                return await exchange.run()
        except TimeoutError as error:
            seconds = f"{limits.single_call_timeout_s:g} seconds"
            raise _failure(
                resolved.spec,
                f"no answer came within {seconds}",
                code="provider_timeout",
                hint="Raise the time for single calls in the AI settings, or pick a faster model.",
            ) from error


class _InvalidAnswer(Exception):
    """An answer of the wrong form; ``raw`` is its text."""

    def __init__(self, problem: str, raw: str) -> None:
        super().__init__(problem)
        self.raw = raw


class _Exchange(Generic[AnswerT]):
    """One question to one model."""

    def __init__(
        self, resolved: ResolvedModel, question: OneShotQuestion, kind: type[AnswerT]
    ) -> None:
        self._resolved = resolved
        self._kind = kind
        self._form = choose_output_form(resolved.spec)
        self._request = build_request(resolved.spec, question, answer_schema(kind), self._form)
        self._usage = TokenUsage()
        self._attempts = 0

    async def run(self) -> OneShotAnswer[AnswerT]:
        try:
            return await self._attempt(self._request)
        except _InvalidAnswer as invalid:
            if not 0 < len(invalid.raw) <= MAX_REPAIR_LENGTH:
                raise self._unusable(invalid) from invalid
            again = invalid
        try:
            return await self._attempt(_corrected(self._request, again))
        except _InvalidAnswer as invalid:
            raise self._unusable(invalid) from invalid

    async def _attempt(self, request: ModelRequest) -> OneShotAnswer[AnswerT]:
        self._attempts += 1
        reply = await collect_reply(self._resolved.provider, request)
        self._usage = _sum(self._usage, reply.usage)
        self._check_stop(reply)
        value = _read(reply, self._kind)
        return OneShotAnswer(value, self._resolved.spec.id, self._usage, self._attempts)

    def _check_stop(self, reply: ModelReply) -> None:
        """Raise for answers that another attempt would not improve."""
        if reply.stop == "content_filter":
            raise _failure(
                self._resolved.spec,
                "the answer was refused",
                code="content_filtered",
                hint="Rephrase what was asked, or pick another model.",
            )
        if reply.stop == "max_tokens" and not reply.calls and find_json_object(reply.text) is None:
            limit = self._request.max_output
            raise _failure(
                self._resolved.spec,
                f"the answer was longer than {limit} tokens",
                hint="Raise the token limit of single calls in the AI settings, or pick another"
                " model.",
            )

    def _unusable(self, invalid: _InvalidAnswer) -> ProviderError:
        problem = f"the answer does not have the requested form: {invalid}"
        return _failure(self._resolved.spec, problem, hint="Pick another model for this.")


def output_limit(spec: ModelSpec, wanted: int, most: int) -> int:
    """Return the output limit; a model that always thinks gets the maximum."""
    always = spec.reasoning and spec.thinking_support.off == "impossible"
    return most if always else min(wanted, most)


def choose_output_form(spec: ModelSpec) -> Form:
    """Return how this model is held to a form."""
    if spec.tools and spec.forced_tool != "no":
        return "tool"
    return "schema" if spec.structured_output else "words"


def build_request(
    spec: ModelSpec, question: OneShotQuestion, schema: Schema, form: Form
) -> ModelRequest:
    """Return the request that holds this model to a form, without thinking."""
    request = ModelRequest(
        model=spec.model,
        system=question.system,
        messages=(_user_message(question.prompt),),
        thinking="none",
        max_output=question.max_output,
        account=question.account,
        parallel_calls=False,
    )
    match form:
        case "tool":
            tool = ToolDefinition.model_validate(
                {"name": TOOL, "description": question.purpose, "parameters": schema}
            )
            return replace(request, tools=(tool,), tool_choice=NamedTool(TOOL))
        case "schema":
            return replace(request, response_schema=schema)
        case "words":
            fields = json.dumps(schema, ensure_ascii=False)
            told = f"{question.system}\n\n{_SCHEMA_INSTRUCTION}{fields}"
            return replace(request, system=told.strip())


def _corrected(request: ModelRequest, invalid: _InvalidAnswer) -> ModelRequest:
    """Return the request extended by the invalid answer and the problem, as text in every form."""
    said = AssistantMessage(parts=(TextPart(text=invalid.raw),))
    again = _user_message(_CORRECTION.format(problem=str(invalid)))
    return replace(request, messages=(*request.messages, said, again))


def _user_message(text: str) -> UserMessage:
    return UserMessage(parts=(TextPart(text=text),))


def _read(reply: ModelReply, kind: type[AnswerT]) -> AnswerT:
    """Return the answer from the call or, as some models answer despite the tool, from the text."""
    call = next((call for call in reply.calls if call.tool == TOOL), None)
    raw = _raw(call, reply.text)
    found = call.arguments if call is not None else find_json_object(reply.text)
    if found is None:
        problem = call.problem if call is not None else None
        raise _InvalidAnswer(problem or "it holds no JSON object", raw)
    try:
        return kind.model_validate(found)
    except ValidationError as error:
        raise _InvalidAnswer(_problem(error), raw) from error


def _raw(call: ToolCallReady | None, text: str) -> str:
    return text.strip() if call is None else call.raw.strip()


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(step) for step in first["loc"])
    return f"{where}: {first['msg']}" if where else first["msg"]


def _failure(
    spec: ModelSpec, what: str, *, code: ErrorCode = "provider_protocol", hint: str | None = None
) -> ProviderError:
    return ProviderError(
        f"{spec.name}: {what}.", code=code, hint=hint, provider=spec.provider, model=spec.model
    )


def _sum(one: TokenUsage, other: TokenUsage) -> TokenUsage:
    return TokenUsage(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cache_read_tokens=one.cache_read_tokens + other.cache_read_tokens,
        cache_write_tokens=one.cache_write_tokens + other.cache_write_tokens,
        reasoning_tokens=one.reasoning_tokens + other.reasoning_tokens,
        estimated=one.estimated or other.estimated,
    )
