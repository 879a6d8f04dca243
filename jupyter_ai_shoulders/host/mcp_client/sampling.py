"""Model calls that MCP servers ask for (sampling).

The conversation's model answers texts of limited length that the user allowed, with nothing of the
conversation, at the conversation's expense. Used by ``host.mcp_client.server_questions``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from jupyter_ai_shoulders.assist.one_shot import ModelResolver, output_limit
from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.errors import InvalidRequest, ProviderError
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.providers.base import ModelReply, ModelRequest, ResolvedModel
from jupyter_ai_shoulders.providers.streaming.collect_reply import collect_reply
from jupyter_ai_shoulders.storage.base import Sessions
from jupyter_ai_shoulders.tools.base import CallContext
from jupyter_ai_shoulders.wire.hidden_characters import visible
from jupyter_ai_shoulders.wire.parts import AssistantMessage, ModelMessage, TextPart, UserMessage

if TYPE_CHECKING:
    import mcp_types

MAX_PROMPT = 20_000
"""Characters of a request, all of which the user sees."""
MAX_MESSAGES = 50
MAX_OUTPUT = 2_000
"""Tokens of an answer."""
SYSTEM = "Answer the request."


@dataclass(frozen=True, slots=True)
class SampleText:
    """The texts of a request, exactly as they are shown and sent."""

    system: str
    messages: tuple[tuple[str, str], ...]
    """Role and text, alternating; first and last are the user's."""
    max_output: int

    def __str__(self) -> str:
        system = [f"system: {self.system}"] if self.system else []
        return "\n\n".join((*system, *(f"{role}: {text}" for role, text in self.messages)))


@dataclass(frozen=True, slots=True)
class Sample:
    """An answer of a model."""

    text: str
    model: str
    """The catalogue's id."""
    is_cut: bool
    """Whether it reached its limit of tokens."""
    tokens: int
    """Of request and answer."""


class Sampling:
    """Checks what servers want to send, and sends it."""

    def __init__(
        self,
        models: ModelResolver,
        preferences: Callable[[], ModelPreferences],
        sessions: Sessions,
        *,
        allows: Callable[[str], bool],
        redact: Callable[[str], str],
    ) -> None:
        """``allows`` returns whether a server, by its name, may ask for a model at all."""
        self._models = models
        self._preferences = preferences
        self._sessions = sessions
        self.allows = allows
        self._redact = redact

    def text_of(self, params: mcp_types.CreateMessageRequestParams) -> SampleText:
        """Return the texts of a request. Raises ``InvalidRequest``."""
        if params.tools:
            raise InvalidRequest("Tools are not offered to the model.")
        if len(params.messages) > MAX_MESSAGES:
            raise InvalidRequest(f"At most {MAX_MESSAGES} messages can be sent to a model.")
        said = [
            (message.role, text) for message in params.messages for text in _text_parts(message)
        ]
        messages = tuple(
            (role, self._shown("\n\n".join(text for _, text in group)))
            for role, group in groupby(said, key=lambda each: each[0])
        )
        if not messages or messages[0][0] != "user" or messages[-1][0] != "user":
            raise InvalidRequest("The first and the last message must have the role user.")
        system = self._shown(params.system_prompt or "")
        text = SampleText(system, messages, max(1, min(params.max_tokens, MAX_OUTPUT)))
        if len(str(text)) > MAX_PROMPT:
            raise InvalidRequest(f"At most {MAX_PROMPT:,} characters can be sent to a model.")
        return text

    def model(self, context: CallContext) -> ResolvedModel:
        """Return the model of the call's conversation. Raises ``ShouldersError``."""
        return self._models.resolve(self._sessions.get(context.session_id).model)

    async def send(self, text: SampleText, context: CallContext) -> Sample:
        """Return the answer of the conversation's model.

        Raises ``PolicyRefusal`` (budget; nothing was sent), ``InvalidRequest``, ``ProviderError``.
        """
        resolved, limits = self.model(context), self._preferences()
        seconds = limits.single_call_timeout_s
        owner = self._sessions.get(context.session_id).owner
        request = ModelRequest(
            model=resolved.spec.model,
            system=text.system or SYSTEM,
            messages=tuple(_message(role, said) for role, said in text.messages),
            thinking="none",
            max_output=output_limit(resolved.spec, text.max_output, limits.single_call_max_tokens),
            account=UsageAccount("other", context.session_id, context.turn_id, owner),
        )
        try:
            async with asyncio.timeout(seconds):
                return _sample(resolved, await collect_reply(resolved.provider, request))
        except TimeoutError as error:
            raise _failure(resolved, f"no answer came within {seconds:g} seconds") from error

    def _shown(self, text: str) -> str:
        return visible(self._redact(text))


def _sample(resolved: ResolvedModel, reply: ModelReply) -> Sample:
    if not reply.text or reply.stop == "content_filter":
        raise _failure(resolved, "the model gave no answer")
    usage = reply.usage
    tokens = usage.input_tokens + usage.output_tokens
    return Sample(reply.text, resolved.spec.id, reply.stop == "max_tokens", tokens)


def _failure(resolved: ResolvedModel, what: str) -> ProviderError:
    spec = resolved.spec
    return ProviderError(f"{spec.name}: {what}.", provider=spec.provider, model=spec.model)


def _message(role: str, text: str) -> ModelMessage:
    parts = (TextPart(text=text),)
    return AssistantMessage(parts=parts) if role == "assistant" else UserMessage(parts=parts)


def _text_parts(message: mcp_types.SamplingMessage) -> list[str]:
    """Return the texts of a message. Raises ``InvalidRequest`` for anything else."""
    blocks = message.content if isinstance(message.content, list) else [message.content]
    texts: list[str] = []
    for block in blocks:
        if block.type != "text":
            raise InvalidRequest("Only texts can be sent to a model.")
        texts.append(block.text)
    return texts
