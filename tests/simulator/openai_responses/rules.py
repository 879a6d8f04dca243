"""Rules of the Responses format beyond its schema, except the order of items.

Each rule is a function that returns or raises ``RequestRefused``. Called in order by ``endpoint``.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator

from tests.simulator.openai_responses.schema import (
    MOST_METADATA,
    AllowedTools,
    AnyTool,
    FunctionCallOutput,
    FunctionTool,
    InputFile,
    InputImage,
    InputPart,
    InputText,
    InputTokensBody,
    JsonObjectFormat,
    JsonSchemaFormat,
    NamedChoice,
    NamespaceTool,
    ResponsesBody,
)
from tests.simulator.refusal import RequestRefused
from tests.simulator.strict_schema import check_parameters, check_strict

MOST_BREAKPOINTS = 4
DATA_URL = re.compile(r"data:(?P<kind>[a-z]+/[a-z0-9.+-]+);base64,(?P<data>.*)", re.DOTALL)
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def parts_of(body: InputTokensBody) -> Iterator[tuple[str, InputPart]]:
    """Yield what was sent to the model in parts, with its place."""
    for index, item in enumerate(body.items):
        name = "output" if isinstance(item, FunctionCallOutput) else "content"
        content = getattr(item, name, None)
        for at, part in enumerate(content if isinstance(content, list) else []):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - parts of either side
            if isinstance(part, InputText | InputImage | InputFile):
                yield f"input[{index}].{name}[{at}]", part


def images_can_be_read(body: InputTokensBody) -> None:
    """An image is a link, or base64 of a known kind."""
    for where, part in parts_of(body):
        if not isinstance(part, InputImage):
            continue
        if (part.image_url is None) == (part.file_id is None):
            raise RequestRefused(
                f"Invalid value for '{where}': one of 'image_url' and 'file_id' must be given.",
                param=where,
                code="invalid_value",
            )
        if part.image_url is not None:
            check_image_url(part.image_url, f"{where}.image_url")


def check_image_url(url: str, where: str) -> None:
    """A link, or a data URL of an image."""
    if url.startswith(("https://", "http://")):
        return
    found = DATA_URL.fullmatch(url)
    if found is None:
        raise RequestRefused(
            f"Invalid '{where}'. Expected a valid URL, but got a value with an invalid format.",
            param=where,
            code="invalid_value",
        )
    if found["kind"] not in IMAGES or not is_base64(found["data"]):
        raise RequestRefused(
            "The image data you provided does not represent a valid image. Please check your input "
            "and try again with one of the supported image formats: ['image/jpeg', 'image/png', "
            "'image/gif', 'image/webp'].",
            param="input",
            code="invalid_image_format" if found["kind"] not in IMAGES else "invalid_base64_image",
        )


def is_base64(text: str) -> bool:
    """Return whether the text is base64 of something."""
    try:
        return bool(base64.b64decode(text, validate=True))
    except ValueError:
        return False


def breakpoints_are_few(body: InputTokensBody) -> None:
    """At most four explicit cache breakpoints."""
    found = sum(part.prompt_cache_breakpoint is not None for _, part in parts_of(body))
    if found > MOST_BREAKPOINTS:
        raise RequestRefused(
            f"Too many prompt cache breakpoints: at most {MOST_BREAKPOINTS} are allowed, but "
            f"{found} were given.",
            param="input",
        )


def nothing_is_stored(body: InputTokensBody) -> None:
    """The simulator keeps no responses and no conversations."""
    if body.previous_response_id is not None:
        raise RequestRefused(
            f"Previous response with id '{body.previous_response_id}' not found.",
            param="previous_response_id",
            code="previous_response_not_found",
        )
    if body.conversation is not None:
        raise RequestRefused(
            f"Conversation with id '{body.conversation}' not found.",
            status=404,
            param="conversation",
        )


def tools_are_distinct(body: InputTokensBody) -> None:
    """No two tools have one name."""
    names = [tool.name for tool in body.tools or []]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise RequestRefused(
                f"Duplicate tool name '{name}' in 'tools'.",
                param=f"tools[{index}].name",
                code="invalid_value",
            )


def choice_is_offered(body: InputTokensBody) -> None:
    """A tool that must or may be called is one of the tools."""
    choice, names = body.tool_choice, {tool.name for tool in body.tools or []}
    if choice == "required" and not names:
        raise RequestRefused(
            "Tool choice 'required' must be specified with 'tools' parameter.", param="tool_choice"
        )
    wanted: list[str] = []
    if isinstance(choice, NamedChoice):
        wanted = [choice.name]
    if isinstance(choice, AllowedTools):
        wanted = [tool.name for tool in choice.tools]
    for name in wanted:
        if name not in names:
            raise RequestRefused(
                f"Tool choice 'function' not found in 'tools' parameter: {name}",
                param="tool_choice",
            )


def _functions(tool: AnyTool, param: str) -> Iterator[tuple[FunctionTool, str]]:
    """Yield the functions of a tool with the parameter that names their schema."""
    if isinstance(tool, FunctionTool):
        yield tool, f"{param}.parameters"
    elif isinstance(tool, NamespaceTool):
        for index, function in enumerate(tool.tools):
            yield function, f"{param}.tools[{index}].parameters"


def schemas_are_strict(body: InputTokensBody) -> None:
    """Parameters are objects; strict schemas keep to their rules."""
    for index, tool in enumerate(body.tools or []):
        for function, param in _functions(tool, f"tools[{index}]"):
            check_parameters(
                function.name, function.parameters, param, strict=bool(function.strict)
            )
    wanted = body.text and body.text.format
    if isinstance(wanted, JsonSchemaFormat) and wanted.strict:
        subject = f"response_format '{wanted.name}'"
        code = "invalid_json_schema"
        check_strict(wanted.schema_, subject, "text.format.schema", code)


def json_is_mentioned(body: InputTokensBody) -> None:
    """Free JSON must be asked for in words too."""
    wanted = body.text and body.text.format
    if not isinstance(wanted, JsonObjectFormat):
        return
    said = "".join(item.model_dump_json() for item in body.items) + (body.instructions or "")
    if "json" not in said.lower():
        raise RequestRefused(
            "Response input messages must contain the word 'json' in some form to use "
            "'text.format' of type 'json_object'.",
            param="input",
        )


def options_fit(body: ResponsesBody) -> None:
    """Options that depend on others are given with them, those that exclude others without."""
    if body.stream_options is not None and not body.stream:
        raise RequestRefused(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            param="stream_options",
        )
    if body.background and body.store is False:
        raise RequestRefused("Background mode requires 'store' to be true.", param="background")
    logprobs = "message.output_text.logprobs" in (body.include or [])
    if body.top_logprobs is not None and not logprobs:
        raise RequestRefused(
            "'top_logprobs' requires 'message.output_text.logprobs' in 'include'.",
            param="top_logprobs",
        )


def metadata_is_small(body: ResponsesBody) -> None:
    """At most sixteen pairs."""
    found = len(body.metadata or {})
    if found > MOST_METADATA:
        raise RequestRefused(
            f"Invalid 'metadata': too many properties. Expected an object with at most "
            f"{MOST_METADATA} properties, but got an object with {found} properties instead.",
            param="metadata",
            code="object_above_max_properties",
        )


COUNT_RULES: tuple[Callable[[InputTokensBody], None], ...] = (
    nothing_is_stored,
    images_can_be_read,
    breakpoints_are_few,
    tools_are_distinct,
    choice_is_offered,
    schemas_are_strict,
    json_is_mentioned,
)
RULES: tuple[Callable[[ResponsesBody], None], ...] = (options_fit, metadata_is_small)
