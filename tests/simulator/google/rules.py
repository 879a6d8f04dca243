"""Rules of ``generateContent`` beyond its schema, except the order of turns.

Each rule is a function that returns or raises ``RequestRefused``. Called in order by ``endpoint``.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Sequence

from pydantic import JsonValue

from tests.simulator.google.schema import (
    Blob,
    Content,
    FunctionDeclaration,
    GenerateContentBody,
    Part,
)
from tests.simulator.google.validation_errors import invalid, required

DATA = ("text", "inline_data", "file_data", "function_call", "function_response")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
MIME_TYPES = frozenset(
    {
        *("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"),
        *("application/pdf", "text/plain", "text/csv", "text/html", "text/markdown"),
    }
)
NOT_IN_SCHEMAS = (
    *("$schema", "const", "discriminator", "examples", "title", "format", "oneOf"),
    *("exclusiveMinimum", "exclusiveMaximum"),
)
SCHEMAS_BY_NAME = ("properties", "patternProperties", "$defs")


def contents_are_given(body: GenerateContentBody) -> None:
    """There are contents, each with a role and parts, each part with its data."""
    if not body.turns:
        raise required("contents", "contents is not specified")
    for place, content in placed(body):
        if content.role not in {"user", "model"}:
            raise invalid("Please use a valid role: user, model.")
        check_parts(content, place)
    if body.system_instruction is not None:
        check_parts(body.system_instruction, "system_instruction")


def check_parts(content: Content, place: str) -> None:
    """A content has parts, and each has one kind of data."""
    if not content.parts:
        raise required(f"{place}.parts", "contents.parts must not be empty.")
    for index, part in enumerate(content.parts):
        given = [name for name in DATA if getattr(part, name) is not None]
        if len(given) != 1:
            problem = "must have one initialized field" if not given else "is already set"
            where = f"{place}.parts[{index}].data"
            raise required(where, f"required oneof field 'data' {problem}")


def parts_fit_their_role(body: GenerateContentBody) -> None:
    """Calls and thoughts are the model's, results the user's."""
    for place, content in placed(body):
        for part in content.parts or []:
            own = part.function_call is not None or part.thought is True
            if own and content.role != "model":
                raise invalid(f"{place}: function calls and thoughts can only be in model turns.")
            if part.function_response is not None and content.role != "user":
                raise invalid(f"{place}: function responses can only be in user turns.")


def data_is_readable(body: GenerateContentBody) -> None:
    """Data is base64 of a type the models take."""
    for _, part in parts(body):
        for blob in blobs(part):
            if blob.mime_type not in MIME_TYPES:
                raise invalid(f"Unsupported MIME type: {blob.mime_type}")
            check_base64(blob)


def check_base64(blob: Blob) -> None:
    """Data is base64."""
    try:
        base64.b64decode(blob.data, validate=True)
    except binascii.Error as error:
        raise invalid("Invalid value at 'inline_data.data' (TYPE_BYTES), Base64 failed") from error


def blobs(part: Part) -> Iterator[Blob]:
    """Yield the data in a part."""
    if part.inline_data is not None:
        yield part.inline_data
    if part.function_response is not None:
        for item in part.function_response.parts or []:
            if item.inline_data is not None:
                yield item.inline_data


def functions_are_declared_well(body: GenerateContentBody) -> None:
    """Functions have good names, once each, and parameters said in one way."""
    seen: set[str] = set()
    for index, function in enumerate(body.functions):
        place = f"tools[0].function_declarations[{index}]"
        if not NAME.fullmatch(function.name):
            raise required(
                f"{place}.name",
                "[FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. "
                "Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or "
                "dashes (-), with a maximum length of 128.",
            )
        if function.name in seen:
            raise invalid(f"Duplicate function declaration found: {function.name}")
        seen.add(function.name)
        check_parameters(function, place)


def check_parameters(function: FunctionDeclaration, place: str) -> None:
    """Parameters are an object schema of the part of JSON Schema that is understood."""
    if function.parameters is not None and function.parameters_json_schema is not None:
        raise invalid(f"{place}: only one of parameters and parameters_json_schema may be set.")
    schema = without_dialect(function.parameters_json_schema)
    if schema is not None:
        check_schema(schema, f"{place}.parameters_json_schema")
        if schema.get("type") != "object":
            raise required(
                f"{place}.parameters_json_schema", "schema type for parameters should be OBJECT"
            )


def without_dialect(schema: dict[str, JsonValue] | None) -> dict[str, JsonValue] | None:
    """Leave ``$schema`` out, which Google's own client (Gemini CLI 0.61) sends at the top."""
    return schema and {name: value for name, value in schema.items() if name != "$schema"}


def check_schema(schema: JsonValue, place: str) -> None:
    """Refuse keywords the service does not understand."""
    if isinstance(schema, list):
        for item in schema:
            check_schema(item, place)
    if not isinstance(schema, dict):
        return
    unknown = next((name for name in NOT_IN_SCHEMAS if name in schema), None)
    if unknown is not None:
        raise required(place, f"unsupported keyword in schema: {unknown}")
    if isinstance(schema.get("additionalProperties"), dict):
        raise required(place, "additional_properties must be a boolean")
    for name, value in schema.items():
        if name in SCHEMAS_BY_NAME and isinstance(value, dict):
            check_schema(list(value.values()), f"{place}.{name}")
        elif name not in {"enum", "default", "required"}:
            check_schema(value, f"{place}.{name}")


def choice_fits_the_functions(body: GenerateContentBody) -> None:
    """A choice is made among functions that are there."""
    config = body.tool_config and body.tool_config.function_calling_config
    if config is None:
        return
    if not body.functions:
        raise invalid("Function calling config is set without function_declarations.")
    names = {function.name for function in body.functions}
    for name in config.allowed_function_names or []:
        if config.mode not in {"ANY", "VALIDATED"}:
            raise invalid("allowed_function_names may only be set with mode ANY or VALIDATED.")
        if name not in names:
            raise invalid(f"Allowed function name is not declared: {name}")


def results_hold_no_references(body: GenerateContentBody) -> None:
    """A key ``$ref`` in a result stands for a file of it, which none of ours has."""
    for _, part in parts(body):
        if part.function_response is not None and refers(part.function_response.response):
            raise invalid("Function response contains a $ref that names no part of the response.")


def refers(value: JsonValue) -> bool:
    """Return whether there is a key ``$ref`` anywhere."""
    if isinstance(value, list):
        return any(map(refers, value))
    return isinstance(value, dict) and ("$ref" in value or any(map(refers, value.values())))


def schemas_have_their_type(body: GenerateContentBody) -> None:
    """An answer that follows a schema is JSON."""
    config = body.generation_config
    schemas = {
        "response_schema": config.response_schema,
        "response_json_schema": config.response_json_schema,
    }
    given = [name for name, schema in schemas.items() if schema is not None]
    if len(given) > 1:
        raise invalid("Only one of response_schema and response_json_schema may be set.")
    if given and config.response_mime_type != "application/json":
        raise required(
            f"generation_config.{given[0]}", "only allowed with mime type application/json"
        )
    check_schema(config.response_json_schema, "generation_config.response_json_schema")


def cache_stands_alone(body: GenerateContentBody) -> None:
    """What a cached content holds is not sent beside it."""
    beside = (body.system_instruction, body.tools, body.tool_config)
    if body.cached_content is not None and any(item is not None for item in beside):
        raise invalid(
            "CachedContent can not be used with GenerateContent request setting "
            "system_instruction, tools or tool_config."
        )


def placed(body: GenerateContentBody) -> Iterator[tuple[str, Content]]:
    """Yield the contents with their places."""
    for index, content in enumerate(body.turns):
        yield f"contents[{index}]", content


def parts(body: GenerateContentBody) -> Iterator[tuple[str, Part]]:
    """Yield all parts with their places."""
    for place, content in placed(body):
        for index, part in enumerate(content.parts or []):
            yield f"{place}.parts[{index}]", part


RULES: Sequence[Callable[[GenerateContentBody], None]] = (
    contents_are_given,
    parts_fit_their_role,
    data_is_readable,
    functions_are_declared_well,
    choice_fits_the_functions,
    results_hold_no_references,
    schemas_have_their_type,
    cache_stands_alone,
)
