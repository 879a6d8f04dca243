"""Requests suggestions from a model and yields each as soon as it is complete; used by ``service``.

A forced tool, a JSON Schema or JSON requested in words gives several suggestions in one answer.
Fill-in-the-middle models give one per call, so several calls run at once. Closing the generator
ends the calls.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import cache
from typing import cast

from jupyter_ai_shoulders.assist.inline_completion.prompt import (
    CompletionContext,
    fill_texts,
    question_text,
    system_text,
)
from jupyter_ai_shoulders.assist.inline_completion.suggestion_schema import (
    SuggestionAnswer,
    parse_suggestions,
)
from jupyter_ai_shoulders.assist.json_answers import Schema, answer_schema
from jupyter_ai_shoulders.assist.one_shot import (
    OneShotQuestion,
    build_request,
    choose_output_form,
    output_limit,
)
from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.errors import PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.providers.base import (
    FillIn,
    ModelRequest,
    PartDelta,
    PartStart,
    ProviderEvent,
    ResolvedModel,
    Stop,
    StopReason,
    ToolArgumentsDelta,
    ToolCallStart,
)
from jupyter_ai_shoulders.providers.streaming.collect_reply import collect_reply
from jupyter_ai_shoulders.wire.parts import TextPart, UserMessage

MAX_OUTPUT = 1_024
"""Tokens of all suggestions together."""
FILL_OUTPUT = 256
"""Tokens of one suggestion of a fill-in-the-middle model."""
TEMPERATURES = (0.1, 0.6, 0.9)
"""Temperatures of the calls to a fill-in-the-middle model: the first answer is the likeliest, the
others vary.
"""
_PURPOSE = "Give the suggestions for the caret."


Sending = Callable[[ModelRequest, int], None]
"""Called with each request before it is sent, and with the number of times it is sent."""


class UnusableAnswer(Exception):
    """Raised for an answer that lacks the requested form; all its suggestions are discarded."""


async def request_candidates(
    resolved: ResolvedModel,
    context: CompletionContext,
    preferences: ModelPreferences,
    sending: Sending,
    *,
    few: bool,
    owner: str | None = None,
) -> AsyncGenerator[str]:
    """Yield suggestions as the model wrote them; ``few`` limits the number of calls.

    ``owner`` pays for the calls. Raises ``UnusableAnswer`` and the errors of providers, possibly
    after some suggestions, which the caller must then discard.
    """
    account = UsageAccount("ghost", owner=owner)
    if resolved.spec.fill_in:
        temperatures = TEMPERATURES[:1] if few else TEMPERATURES
        requests = [
            _fill_in_request(resolved, context, temperature, account)
            for temperature in temperatures
        ]
        sending(requests[0], len(requests))
        source = _fill_in_answers(resolved, requests)
    else:
        request = _question(resolved, context, preferences, account)
        sending(request, 1)
        source = _answered(resolved, request)
    async with contextlib.aclosing(source) as texts:
        async for text in texts:
            yield text


# One answer with several suggestions


async def _answered(resolved: ResolvedModel, request: ModelRequest) -> AsyncGenerator[str]:
    reading = _AnswerReader()
    given = 0
    events = cast("AsyncGenerator[ProviderEvent]", resolved.provider.stream(request))
    async with contextlib.aclosing(events):
        async for event in events:
            for text in reading.take(event)[given:]:
                given += 1
                yield text
    if not reading.is_good:
        raise UnusableAnswer


def _question(
    resolved: ResolvedModel,
    context: CompletionContext,
    preferences: ModelPreferences,
    account: UsageAccount,
) -> ModelRequest:
    spec = resolved.spec
    question = OneShotQuestion(
        system_text(context),
        question_text(context, secrets.token_hex(4)),
        _PURPOSE,
        account,
        output_limit(spec, MAX_OUTPUT, preferences.single_call_max_tokens),
    )
    return build_request(spec, question, _schema(), choose_output_form(spec))


@cache
def _schema() -> Schema:
    """Return the JSON Schema of an answer. Cached: building it is the slowest step."""
    return answer_schema(SuggestionAnswer)


class _AnswerReader:
    """Reads one answer: the arguments of its call or, without a call, its text."""

    def __init__(self) -> None:
        self._text = ""
        self._in_call = False
        self._in_text = False
        self._found: list[str] = []
        self._stop: StopReason = "other"

    def take(self, event: ProviderEvent) -> list[str]:
        """Return all suggestions that are complete so far."""
        match event:
            case PartStart():
                self._in_text = event.kind == "text"
            case ToolCallStart() if not self._in_call:
                self._in_call, self._text = True, ""
            case PartDelta() if self._in_text and not self._in_call:
                self._add(event.text)
            case ToolArgumentsDelta():
                self._add(event.text)
            case Stop():
                self._end(event.reason)
            case _:
                pass
        return self._found

    @property
    def is_good(self) -> bool:
        """Whether the answer has the requested form."""
        if self._stop == "max_tokens":  # only the last suggestion was cut off
            return True
        whole = parse_suggestions(self._text, whole=True)
        return self._stop in {"end_turn", "tool_use"} and bool(whole)

    def _add(self, text: str) -> None:
        self._text += text
        if '"' in text or "]" in text:
            self._grow(parse_suggestions(self._text, whole=False))

    def _end(self, reason: StopReason) -> None:
        self._stop = reason
        if reason != "max_tokens":
            self._grow(parse_suggestions(self._text, whole=True))

    def _grow(self, found: list[str]) -> None:
        """Add new suggestions; those already yielded may be on the screen and stay."""
        self._found += found[len(self._found) :]


# Several answers with one suggestion each


async def _fill_in_answers(
    resolved: ResolvedModel, requests: Sequence[ModelRequest]
) -> AsyncGenerator[str]:
    """Yield the answers as they arrive. Failed calls are skipped, unless all fail."""
    failed: ShouldersError | None = None
    any_text = False
    calls = [asyncio.ensure_future(_fill(resolved, request)) for request in requests]
    try:
        for ended in asyncio.as_completed(calls):
            try:
                text = await ended
            except ShouldersError as error:
                if failed is None or isinstance(failed, PolicyRefusal):
                    failed = error  # a refusal is raised only if all calls were refused
            else:
                any_text = True
                yield text
    finally:
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    if failed is not None and not any_text:
        raise failed


async def _fill(resolved: ResolvedModel, request: ModelRequest) -> str:
    reply = await collect_reply(resolved.provider, request)
    return reply.text if reply.stop == "end_turn" else _whole_lines(reply.text, reply.stop)


def _fill_in_request(
    resolved: ResolvedModel, context: CompletionContext, temperature: float, account: UsageAccount
) -> ModelRequest:
    before, after = fill_texts(context)
    return ModelRequest(
        model=resolved.spec.model,
        system="",
        messages=(UserMessage(parts=(TextPart(text=before),)),),
        thinking="none",
        max_output=FILL_OUTPUT,
        account=account,
        fill_in=FillIn(after, temperature),
    )


def _whole_lines(text: str, stop: StopReason) -> str:
    """Return the whole lines of a truncated answer; nothing of a refused one."""
    return text.rpartition("\n")[0] if stop == "max_tokens" else ""
