"""Requests that Ollama refuses although the schema accepts them.

Each rule is a function that returns or raises ``RequestRefused``. Called in order by ``endpoint``.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence

from tests.simulator.chunking import estimate
from tests.simulator.ollama.models import OllamaModel
from tests.simulator.ollama.schema import ChatBody
from tests.simulator.refusal import RequestRefused

DEFAULT_WINDOW = 4_096


def capabilities_suffice(body: ChatBody, model: OllamaModel) -> None:
    """The model can do what is asked of it."""
    wanted = {
        "tools": bool(body.tools),
        "thinking": bool(body.think),
        "vision": any(message.images for message in body.messages),
    }
    for name, asked in wanted.items():
        if asked and name not in model.capabilities:
            raise RequestRefused(f'"{model.name}" does not support {name}')


def effort_is_known(body: ChatBody, model: OllamaModel) -> None:
    """Only some models think in levels, and those cannot leave it."""
    if model.family == "gptoss" and body.think == "max":
        raise RequestRefused(f'think value "max" is not supported for "{model.name}"')


def format_is_known(body: ChatBody, _: OllamaModel) -> None:
    """The format is the word ``json`` or a schema."""
    if body.format is not None and body.format != "json" and not isinstance(body.format, dict):
        raise RequestRefused(
            f'invalid format: "{body.format}"; expected "json" or a valid JSON Schema object'
        )


def images_hold_data(body: ChatBody, _: OllamaModel) -> None:
    """Images are base64, and the user's."""
    for message in body.messages:
        if message.images and message.role != "user":
            raise RequestRefused(f"images are not supported in {message.role} messages")
        for image in message.images or []:
            try:
                base64.b64decode(image, validate=True)
            except binascii.Error as error:
                raise RequestRefused("illegal base64 data at input byte 0") from error


def results_follow_calls(body: ChatBody, _: OllamaModel) -> None:
    """Each call has its result right after it, in order; there are no other ones."""
    waiting: list[str | None] = []
    for index, message in enumerate(body.messages):
        if message.role == "tool":
            if not waiting or message.tool_call_id not in waiting:
                raise RequestRefused(f"messages[{index}]: tool message does not answer a tool call")
            waiting.remove(message.tool_call_id)
        elif waiting:
            raise RequestRefused(f"messages[{index}]: tool calls before it have no tool message")
        if message.tool_calls and message.role != "assistant":
            raise RequestRefused(f"messages[{index}]: tool calls are the assistant's")
        waiting = waiting or [call.id for call in message.tool_calls or []]
    if waiting:
        raise RequestRefused("the last tool calls have no tool message")


def tools_are_objects(body: ChatBody, _: OllamaModel) -> None:
    """Parameters of a function are an object."""
    for tool in body.tools or []:
        if tool.function.parameters.get("type") != "object":
            raise RequestRefused(f"parameters of {tool.function.name} must have type object")


def prompt_fits(body: ChatBody, model: OllamaModel) -> None:
    """The prompt fits the window, unless it may be cut."""
    window = min(body.options.num_ctx or DEFAULT_WINDOW, model.context_length)
    tokens = estimate(len(body.model_dump_json(exclude_none=True)))
    if body.truncate is False and tokens > window:
        raise RequestRefused(f"the input length exceeds the context length ({tokens} > {window})")


RULES: Sequence[Callable[[ChatBody, OllamaModel], None]] = (
    capabilities_suffice,
    effort_is_known,
    format_is_known,
    images_hold_data,
    results_follow_calls,
    tools_are_objects,
    prompt_fits,
)
