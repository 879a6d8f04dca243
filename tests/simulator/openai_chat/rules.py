"""Rules of Chat Completions beyond its schema: for the conversation and a server's known fields.

Each rule is a function that returns or raises ``RequestRefused``. Called in order by ``endpoint``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.simulator.openai_chat.models import ChatModel
from tests.simulator.openai_chat.schema import (
    AssistantMessage,
    ChatBody,
    JsonSchemaFormat,
    NamedChoice,
    SystemMessage,
    ToolMessage,
)
from tests.simulator.refusal import RequestRefused
from tests.simulator.signed_state import unseal_content
from tests.simulator.strict_schema import check_parameters, check_strict

STANDARD_ECHO = ("reasoning", "reasoning_content", "reasoning_details")


def fields_are_known(body: ChatBody, model: ChatModel) -> None:
    """Only fields this server knows, in the body and in assistant messages."""
    for name in sorted(body.model_fields_set):
        if name not in model.server.fields:
            raise unknown(model, name)
    for index, message in enumerate(body.messages):
        if isinstance(message, AssistantMessage):
            for name in STANDARD_ECHO:
                if name in message.model_fields_set and name not in model.server.echo:
                    raise unknown(model, f"messages[{index}].{name}")


def unknown(model: ChatModel, name: str) -> RequestRefused:
    """Return the refusal of an unknown field in the server's own way."""
    match model.server.name:
        case "mistral":
            return RequestRefused(f"Extra inputs are not permitted: {name}", status=422, param=name)
        case "vllm":
            message = f"Extra inputs are not permitted: {name}"
            return RequestRefused(message, type="BadRequestError", code=400)
        case _:
            return RequestRefused(
                f"Unknown parameter: '{name}'.", param=name, code="unknown_parameter"
            )


def calls_have_results(body: ChatBody) -> None:
    """Calls are answered by the tool messages right after them; there are no other ones."""
    open_calls: list[str] = []
    for index, message in enumerate(body.messages):
        if isinstance(message, ToolMessage):
            take_result(message, index, open_calls)
            continue
        if open_calls:
            raise unanswered(index, open_calls)
        if isinstance(message, AssistantMessage):
            open_calls = [call.id for call in message.tool_calls or []]
            refuse_repeated(open_calls, index)
    if open_calls:
        raise unanswered(len(body.messages), open_calls)


def take_result(message: ToolMessage, index: int, open_calls: list[str]) -> None:
    """Strike the call a result answers off the list."""
    if message.tool_call_id not in open_calls:
        raise RequestRefused(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding "
            "message with 'tool_calls'.",
            param=f"messages.[{index}].role",
        )
    open_calls.remove(message.tool_call_id)


def unanswered(index: int, missing: Sequence[str]) -> RequestRefused:
    """Return the refusal of calls without results."""
    return RequestRefused(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: "
        + ", ".join(missing),
        param=f"messages.[{index}].role",
    )


def refuse_repeated(calls: Sequence[str], index: int) -> None:
    """Ids of one message are unique."""
    for call in calls:
        if calls.count(call) > 1:
            raise RequestRefused(
                f"Duplicate value for 'tool_call_id' of '{call}' in message[{index}]",
                param=f"messages.[{index}].tool_calls",
            )


def assistants_say_something(body: ChatBody) -> None:
    """An assistant message has content or calls."""
    for index, message in enumerate(body.messages):
        if isinstance(message, AssistantMessage) and says_nothing(message):
            raise RequestRefused(
                "Invalid value for 'content': expected a string, got null.",
                param=f"messages.[{index}].content",
            )


def says_nothing(message: AssistantMessage) -> bool:
    """Return whether a message has neither content nor calls."""
    return message.tool_calls is None and message.content is None and message.refusal is None


def reasoning_comes_back(body: ChatBody, model: ChatModel) -> None:
    """Where the server needs it, a turn with calls brings its reasoning, if only empty."""
    for index, message in enumerate(body.messages):
        if (
            model.server.must_echo
            and isinstance(message, AssistantMessage)
            and message.tool_calls
            and message.reasoning_content is None
        ):
            raise RequestRefused(
                "Missing `reasoning_content` field in the assistant message at message index "
                f"{index}. The `reasoning_content` of a turn with tool calls must be passed back."
            )


def details_are_unchanged(body: ChatBody, _: ChatModel) -> None:
    """Signed reasoning comes back as it went."""
    for index, message in enumerate(body.messages):
        details = message.reasoning_details if isinstance(message, AssistantMessage) else None
        for item in details or []:
            if unseal_content(str(item.get("signature"))) != str(item.get("text")).encode():
                raise RequestRefused(
                    "Reasoning details must be passed back unmodified.",
                    param=f"messages[{index}].reasoning_details",
                )


def system_comes_first(body: ChatBody, model: ChatModel) -> None:
    """Chat templates of open models take one system message, at the beginning."""
    if not model.server.one_system_message:
        return
    if any(isinstance(message, SystemMessage) for message in body.messages[1:]):
        raise RequestRefused(
            "System message must be at the beginning.", type="BadRequestError", code=400
        )


def choice_is_a_word(body: ChatBody, model: ChatModel) -> None:
    """Some local servers know ``none``, ``auto`` and ``required`` only."""
    if isinstance(body.tool_choice, NamedChoice) and not model.server.named_choice:
        raise RequestRefused(
            "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
            param="tool_choice",
        )


def options_fit(body: ChatBody) -> None:
    """Options that depend on others are given with them."""
    if body.stream_options is not None and not body.stream:
        raise RequestRefused(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            param="stream_options",
        )
    for name in ("tool_choice", "parallel_tool_calls"):
        if getattr(body, name) is not None and body.tools is None:
            raise RequestRefused(
                f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.",
                param=name,
            )
    choice = body.tool_choice
    if isinstance(choice, NamedChoice):
        names = {tool.function.name for tool in body.tools or []}
        if choice.function.name not in names:
            raise RequestRefused(
                f"Tool choice 'function' not found in 'tools' parameter: {choice.function.name}",
                param="tool_choice",
            )


def schemas_are_strict(body: ChatBody) -> None:
    """Parameters are objects; strict schemas are closed and require every property."""
    for index, tool in enumerate(body.tools or []):
        function, param = tool.function, f"tools[{index}].function.parameters"
        check_parameters(function.name, function.parameters, param, strict=bool(function.strict))
    wanted = body.response_format
    if isinstance(wanted, JsonSchemaFormat) and wanted.json_schema.strict:
        subject = f"response_format '{wanted.json_schema.name}'"
        check_strict(wanted.json_schema.schema_, subject, "response_format", None)


BODY_RULES: tuple[Callable[[ChatBody], None], ...] = (
    calls_have_results,
    assistants_say_something,
    options_fit,
    schemas_are_strict,
)
SERVER_RULES: tuple[Callable[[ChatBody, ChatModel], None], ...] = (
    fields_are_known,
    reasoning_comes_back,
    details_are_unchanged,
    system_comes_first,
    choice_is_a_word,
)
