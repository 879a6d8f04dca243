"""The argument model of a server's tool, made from its schema at run time.

Only names and simple types at the top are checked, so that the model sees a mistake at once; the
server checks the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, cast

from pydantic import ConfigDict, model_validator

from jupyter_ai_shoulders.tools.base import ToolArguments
from jupyter_ai_shoulders.wire.base import Json, JsonObject

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int, float),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}


class ServerArguments(ToolArguments):
    """Base of the argument models of servers' tools."""

    model_config = ConfigDict(extra="allow", frozen=True)
    schema_of_server: ClassVar[JsonObject] = {}

    @property
    def given(self) -> JsonObject:
        """Return the arguments as the model gave them."""
        return cast("JsonObject", self.model_extra or {})

    @model_validator(mode="before")
    @classmethod
    def _check(cls, given: object) -> object:
        if isinstance(given, dict):
            problems = _problems(cls.schema_of_server, cast("JsonObject", given))
            if problems:
                raise ValueError("; ".join(problems[:10]))
        return cast("object", given)

    @classmethod
    def model_json_schema(cls, *_args: Any, **_kwargs: Any) -> dict[str, Any]:
        """Return the adapted schema of the server."""
        return cast("dict[str, Any]", cls.schema_of_server)


def arguments_model(schema: JsonObject) -> type[ServerArguments]:
    """Return the model of arguments of an adapted schema."""
    make = cast("Callable[..., type[ServerArguments]]", type(ServerArguments))
    body = {"schema_of_server": schema, "__module__": __name__, "__annotations__": {}}
    return make("ServerToolArguments", (ServerArguments,), body)


def _problems(schema: JsonObject, given: JsonObject) -> list[str]:
    properties = cast("dict[str, Json]", schema.get("properties", {}))
    required = cast("list[str]", schema.get("required", []))
    found = [f"{name}: it is required" for name in required if name not in given]
    if schema.get("additionalProperties") is False:
        found += [f"{name}: there is no such argument" for name in given if name not in properties]
    for name, value in given.items():
        part = properties.get(name)
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(kind, str) and not _is_kind(value, kind):
            found.append(f"{name}: it is not of the type {kind}")
    return found


def _is_kind(value: Json, kind: str) -> bool:
    if kind in {"integer", "number"} and isinstance(value, bool):
        return False
    return isinstance(value, _KINDS.get(kind, (object,)))
