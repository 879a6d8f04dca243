"""One small program per official SDK: it keeps its conversation in the SDK's form, and continues
it.

Used by tests about results that do not depend on a format.
"""

from __future__ import annotations

import base64
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import anthropic
import openai
from google.genai import Client, errors, types

SCHEMA: Any = {"type": "object", "properties": {"n": {"type": "integer"}}}
ABOUT = "Read a cell."


@dataclass
class Said:
    """An answer, in no format: ``calls`` are names and arguments."""

    text: str
    reasoning: str
    calls: list[tuple[str, Any]]
    waits_for_results: bool
    tokens: tuple[int, int]


@dataclass
class Options:
    """Options of a request."""

    stream: bool = True
    tools: bool = False
    think: bool = False
    parallel: bool = True
    """Whether the model may call several tools at once; Google's format cannot forbid it."""


@dataclass
class Program(ABC):
    """A conversation with one model."""

    sdk: Any
    model: str
    history: list[Any] = field(default_factory=list[Any])
    waiting: list[Any] = field(default_factory=list[Any])
    """The calls of the last answer, in the SDK's own form."""

    error: type[Exception] = Exception
    """What the SDK raises for any error of the API."""

    @abstractmethod
    def say(self, text: str, image: str | None = None) -> None:
        """Add a message of the user; the image is a PNG, base64."""

    @abstractmethod
    def give(self, *results: str) -> None:
        """Add the results of the waiting calls."""

    @abstractmethod
    async def ask(self, options: Options) -> Said:
        """Send the conversation, and add the answer to it."""


class AnthropicProgram(Program):
    """``anthropic``."""

    error = anthropic.APIError

    def say(self, text: str, image: str | None = None) -> None:
        blocks: list[Any] = [{"type": "text", "text": text}]
        if image is not None:
            source = {"type": "base64", "media_type": "image/png", "data": image}
            blocks.append({"type": "image", "source": source})
        self.history.append({"role": "user", "content": blocks})

    def give(self, *results: str) -> None:
        blocks = [
            {"type": "tool_result", "tool_use_id": call.id, "content": result}
            for call, result in zip(self.waiting, results, strict=True)
        ]
        self.history.append({"role": "user", "content": blocks})

    async def ask(self, options: Options) -> Said:
        given: dict[str, Any] = {"model": self.model, "max_tokens": 8000, "messages": self.history}
        if options.tools:
            given["tools"] = [{"name": "read", "description": ABOUT, "input_schema": SCHEMA}]
        if not options.parallel:
            given["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": True}
        if options.think:
            given["thinking"] = {"type": "adaptive", "display": "summarized"}
            given["output_config"] = {"effort": "high"}
        if options.stream:
            async with self.sdk.messages.stream(**given) as events:
                message = await events.get_final_message()
        else:
            message = await self.sdk.messages.create(**given)
        content = message.content
        sent = [block.model_dump(exclude_unset=True) for block in content]
        self.history.append({"role": "assistant", "content": sent})
        self.waiting = [block for block in content if block.type == "tool_use"]
        return Said(
            text="".join(block.text for block in content if block.type == "text"),
            reasoning="".join(block.thinking for block in content if block.type == "thinking"),
            calls=[(call.name, call.input) for call in self.waiting],
            waits_for_results=message.stop_reason == "tool_use",
            tokens=(message.usage.input_tokens, message.usage.output_tokens),
        )


class ChatProgram(Program):
    """``openai``, Chat Completions."""

    error = openai.APIError

    def say(self, text: str, image: str | None = None) -> None:
        items: list[Any] = [{"type": "text", "text": text}]
        if image is not None:
            url = {"url": f"data:image/png;base64,{image}"}
            items.append({"type": "image_url", "image_url": url})
        self.history.append({"role": "user", "content": items})

    def give(self, *results: str) -> None:
        self.history += [
            {"role": "tool", "tool_call_id": call.id, "content": result}
            for call, result in zip(self.waiting, results, strict=True)
        ]

    async def ask(self, options: Options) -> Said:
        given: dict[str, Any] = {"model": self.model, "messages": self.history}
        if options.tools:
            function = {"name": "read", "description": ABOUT, "parameters": SCHEMA}
            given["tools"] = [{"type": "function", "function": function}]
        if not options.parallel:
            given["parallel_tool_calls"] = False
        if options.think:
            given["reasoning_effort"] = "high"
        if options.stream:
            usage = {"include_usage": True}
            async with self.sdk.chat.completions.stream(**given, stream_options=usage) as events:
                async for _ in events:
                    pass
                completion = await events.get_final_completion()
        else:
            completion = await self.sdk.chat.completions.create(**given)
        message = completion.choices[0].message
        sent = message.model_dump(exclude_unset=True, exclude={"parsed"})
        for call in sent.get("tool_calls") or ():
            call["function"].pop("parsed_arguments", None)
        self.history.append(sent)
        self.waiting = list(message.tool_calls or ())
        return Said(
            text=message.content or "",
            reasoning=sent.get("reasoning") or "",
            calls=[
                (call.function.name, json.loads(call.function.arguments)) for call in self.waiting
            ],
            waits_for_results=completion.choices[0].finish_reason == "tool_calls",
            tokens=(completion.usage.prompt_tokens, completion.usage.completion_tokens),
        )


class ResponsesProgram(Program):
    """``openai``, Responses; it keeps its conversation itself, with the reasoning sealed."""

    error = openai.APIError

    def say(self, text: str, image: str | None = None) -> None:
        items: list[Any] = [{"type": "input_text", "text": text}]
        if image is not None:
            url = f"data:image/png;base64,{image}"
            items.append({"type": "input_image", "image_url": url, "detail": "auto"})
        self.history.append({"role": "user", "content": items})

    def give(self, *results: str) -> None:
        self.history += [
            {"type": "function_call_output", "call_id": call.call_id, "output": result}
            for call, result in zip(self.waiting, results, strict=True)
        ]

    async def ask(self, options: Options) -> Said:
        given: dict[str, Any] = {
            "model": self.model,
            "input": self.history,
            "store": False,
            "include": ["reasoning.encrypted_content"],
        }
        if options.tools:
            tool = {"type": "function", "name": "read", "description": ABOUT, "strict": False}
            given["tools"] = [tool | {"parameters": SCHEMA}]
        if not options.parallel:
            given["parallel_tool_calls"] = False
        if options.think:
            given["reasoning"] = {"effort": "high", "summary": "auto"}
        if options.stream:
            async with self.sdk.responses.stream(**given) as events:
                response = await events.get_final_response()
        else:
            response = await self.sdk.responses.create(**given)
        output = response.output
        self.history += output
        self.waiting = [item for item in output if item.type == "function_call"]
        summaries = [item.summary for item in output if item.type == "reasoning"]
        return Said(
            text=response.output_text,
            reasoning="".join(part.text for summary in summaries for part in summary),
            calls=[(call.name, json.loads(call.arguments)) for call in self.waiting],
            waits_for_results=bool(self.waiting) and response.status == "completed",
            tokens=(response.usage.input_tokens, response.usage.output_tokens),
        )


class GoogleProgram(Program):
    """``google-genai``."""

    error = errors.APIError
    sdk: Client

    def say(self, text: str, image: str | None = None) -> None:
        parts = [types.Part.from_text(text=text)]
        if image is not None:
            data = base64.b64decode(image)
            parts.append(types.Part.from_bytes(data=data, mime_type="image/png"))
        self.history.append(types.Content(role="user", parts=parts))

    def give(self, *results: str) -> None:
        parts = [
            types.Part.from_function_response(name=call.name, response={"result": result})
            for call, result in zip(self.waiting, results, strict=True)
        ]
        self.history.append(types.Content(role="user", parts=parts))

    async def ask(self, options: Options) -> Said:
        config = types.GenerateContentConfig(max_output_tokens=8000)
        if options.tools:
            function = types.FunctionDeclaration(
                name="read", description=ABOUT, parameters_json_schema=SCHEMA
            )
            config.tools = [types.Tool(function_declarations=[function])]
        if options.think:
            level = types.ThinkingLevel.HIGH
            config.thinking_config = types.ThinkingConfig(
                include_thoughts=True, thinking_level=level
            )
        models = self.sdk.aio.models
        given: dict[str, Any] = {"model": self.model, "contents": self.history, "config": config}
        chunks: list[types.GenerateContentResponse] = []
        if options.stream:
            chunks += [chunk async for chunk in await models.generate_content_stream(**given)]
        else:
            chunks.append(await models.generate_content(**given))
        candidates = [found for chunk in chunks for found in chunk.candidates or ()]
        contents = [found.content for found in candidates if found.content is not None]
        self.history += contents
        parts = [part for content in contents for part in content.parts or ()]
        self.waiting = [part.function_call for part in parts if part.function_call]
        usage = chunks[-1].usage_metadata
        assert usage is not None
        return Said(
            text="".join(part.text or "" for part in parts if not part.thought),
            reasoning="".join(part.text or "" for part in parts if part.thought),
            calls=[(call.name, call.args) for call in self.waiting],
            waits_for_results=bool(self.waiting) and candidates[-1].finish_reason == "STOP",
            tokens=(
                usage.prompt_token_count or 0,
                (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
            ),
        )


FORMATS: dict[str, type[Program]] = {
    "anthropic": AnthropicProgram,
    "openai_chat": ChatProgram,
    "openai_responses": ResponsesProgram,
    "google": GoogleProgram,
}


def status_of(error: Any) -> int:
    """The status of an error; the Google SDK calls it a code."""
    return getattr(error, "status_code", None) or error.code
