"""Answers single calls outside conversations: suggestions, titles, summaries, forced tools.

Used by ``planner``. The answer uses the request's own words and follows the requested schema;
fields without a matching text stay empty.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import cast

from jupyter_ai_shoulders.providers.base import AnyTool, ModelRequest, NamedTool
from jupyter_ai_shoulders.providers.demo.completions import completions
from jupyter_ai_shoulders.providers.demo.conversation import is_request, spoken, texts_of
from jupyter_ai_shoulders.providers.demo.skill_protocol import SkillCall, SkillReply
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.parts import ToolDefinition

TITLE_LENGTH = 60
"""Characters of a conversation's title."""
GROUNDING = 40
"""Characters at the prefix's end and the suffix's start that a suggestion quotes."""
MAX_DEPTH = 12
"""Nesting up to which a schema is filled; recursive schemas end there."""
CARET = re.compile(r"<\|?(?:cursor|caret|fim_middle)\|?/?>|\[(?:CURSOR|CARET)\]|█", re.IGNORECASE)
TAGGED = re.compile(
    r"<(?P<tag>prefix|suffix|before|after)>(?P<text>.*?)</(?P=tag)>", re.DOTALL | re.IGNORECASE
)
LABEL = re.compile(
    r"^[^\n]{0,200}?\b(?:title|name)\b[^\n]{0,200}?:\s*(?=\S)", re.IGNORECASE | re.DOTALL
)


def is_single(request: ModelRequest) -> bool:
    """Return whether this is a single call, not a step of a conversation."""
    purpose = request.account.purpose if request.account else "turn"
    return (
        request.response_schema is not None
        or (isinstance(request.tool_choice, AnyTool | NamedTool) and bool(request.tools))
        or purpose in {"title", "ghost", "summary"}
    )


def answer_single(request: ModelRequest) -> SkillReply:
    """Return the answer: a call of the forced tool, JSON by the schema, or plain text."""
    words = RequestWords.of(request)
    tool = forced_tool(request)
    if tool is not None:
        value = SchemaFiller(tool.parameters, words).value(tool.parameters, "", 0)
        return SkillReply("", SkillCall(tool.name, value if isinstance(value, dict) else {}))
    if request.response_schema is not None:
        schema = request.response_schema
        return SkillReply(
            json.dumps(SchemaFiller(schema, words).value(schema, "", 0), ensure_ascii=False)
        )
    return SkillReply(plain_answer(request, words))


def forced_tool(request: ModelRequest) -> ToolDefinition | None:
    """Return the tool that must be called, if there is one."""
    match request.tool_choice:
        case NamedTool(name):
            return next((tool for tool in request.tools if tool.name == name), None)
        case AnyTool() if request.response_schema is None and request.tools:
            return request.tools[0]
        case _:
            return None


def plain_answer(request: ModelRequest, words: RequestWords) -> str:
    """Return the answer without a schema, by its purpose."""
    purpose = request.account.purpose if request.account else "turn"
    if purpose == "ghost":
        return next(iter(words.completions), "")
    if purpose == "summary":
        said = [spoken(texts_of(one)) for one in request.messages if is_request(one)]
        listed = "\n".join(f"- {shortened(text, 200)}" for text in said if text)
        return f"Demo (no AI model): no summary, only what the user asked for:\n{listed}"
    return words.title


@dataclass(frozen=True, slots=True)
class RequestWords:
    """The texts of a request that answers are made of."""

    before: str
    after: str
    context: str

    @classmethod
    def of(cls, request: ModelRequest) -> RequestWords:
        """Return the text before and after the caret, and everything else that was sent."""
        texts = [text for message in request.messages for text in texts_of(message)]
        last = texts[-1] if texts else ""
        tagged = {found["tag"].lower(): found["text"] for found in TAGGED.finditer(last)}
        before = tagged.get("prefix", tagged.get("before"))
        if before is not None:
            rest = TAGGED.sub("", last)
            after = tagged.get("suffix", tagged.get("after", ""))
            return cls(before, after, "\n".join([*texts[:-1], rest]))
        at = CARET.search(last)
        if at is not None:
            return cls(last[: at.start()], last[at.end() :], "\n".join(texts[:-1]))
        return cls(last, "", "\n".join(texts[:-1]))

    @property
    def completions(self) -> list[str]:
        """The continuations of the text."""
        return completions(self.before, self.after, self.context)

    @property
    def title(self) -> str:
        """The first line of the text, shortened."""
        said = LABEL.sub("", self.before.strip(), count=1)
        first = next((line for line in said.split("\n") if re.search(r"\w", line)), "")
        return shortened(first.strip(" #>-*\"'`"), TITLE_LENGTH)


@dataclass(frozen=True, slots=True)
class SchemaFiller:
    """Fills a schema; ``root`` resolves its references."""

    root: JsonObject
    words: RequestWords

    def value(self, schema: Json, name: str, depth: int) -> Json:
        """Return a value of the schema for the property ``name``."""
        schema = self.resolved(schema)
        fixed = given(schema)
        if fixed is not None:
            return fixed[0]
        branches = schema.get("anyOf") or schema.get("oneOf")
        if isinstance(branches, list) and branches:
            return self.value(branches[0], name, depth + 1) if depth < MAX_DEPTH else None
        return self.of_type(type_of(schema), schema, name, depth)

    def of_type(self, kind: str, schema: JsonObject, name: str, depth: int) -> Json:
        """Return a value of a schema of this type."""
        value: Json = None
        match kind:
            case "object":
                value = self.fill(schema, depth)
            case "array":
                value = self.items(schema, name, depth)
            case "string":
                value = sized(schema, self.text(name))
            case "integer" | "number":
                least = schema.get("minimum", 0)
                value = least if isinstance(least, int | float) else 0
            case "boolean":
                value = False
            case _:
                pass
        return value

    def resolved(self, schema: Json) -> JsonObject:
        """Return the schema that a reference names."""
        found = schema if isinstance(schema, dict) else {}
        for _ in range(MAX_DEPTH):
            reference = found.get("$ref")
            if not isinstance(reference, str):
                break
            place: Json = self.root
            for key in reference.removeprefix("#").strip("/").split("/"):
                place = place.get(key, {}) if isinstance(place, dict) else {}
            found = place if isinstance(place, dict) else {}
        return found

    def fill(self, schema: JsonObject, depth: int) -> JsonObject:
        """Return an object with the required properties."""
        properties, required = schema.get("properties"), schema.get("required")
        known = properties if isinstance(properties, dict) else {}
        names = (
            [name for name in required if isinstance(name, str)]
            if isinstance(required, list)
            else []
        )
        if depth >= MAX_DEPTH:
            return {}
        return {name: self.value(known.get(name, {}), name, depth + 1) for name in names}

    def items(self, schema: JsonObject, name: str, depth: int) -> Json:
        """Return a list: completions for strings, else as few items as allowed."""
        least, most = schema.get("minItems", 0), schema.get("maxItems", 20)
        least, most = (one if isinstance(one, int) else 0 for one in (least, most))
        inner = self.resolved(schema.get("items", {}))
        if inner.get("type") == "string" and given(inner) is None:
            found: list[Json] = [sized(inner, text) for text in self.words.completions[:most]]
            filler: Json = found[-1] if found else sized(inner, "")
            return [*found, *([filler] * (least - len(found)))]
        count = least if depth < MAX_DEPTH else 0
        return [self.value(inner, name, depth + 1) for _ in range(count)]

    def text(self, name: str) -> str:
        """Return the text for a property, by its name."""
        match name:
            case "prefix_end":
                return self.words.before[-GROUNDING:]
            case "suffix_start":
                return self.words.after[:GROUNDING] or "EMPTY"
            case "completion" | "suggestion" | "insert" | "text":
                return next(iter(self.words.completions), "")
            case _:
                return self.words.title


def given(schema: JsonObject) -> tuple[Json] | None:
    """Return the only possible or default value of a schema: a constant, a default, the first of an
    enum.
    """
    if "const" in schema:
        return (schema["const"],)
    if "default" in schema:
        return (schema["default"],)
    choices = schema.get("enum")
    return (choices[0],) if isinstance(choices, list) and choices else None


def type_of(schema: JsonObject) -> str:
    """Return the type of a schema; the first of several."""
    kind = schema.get("type")
    if isinstance(kind, list) and kind:
        kind = kind[0]
    if isinstance(kind, str):
        return kind
    return "object" if "properties" in schema else "string"


def sized(schema: JsonObject, text: str) -> str:
    """Return a text within the length limits of a schema."""
    least, most = schema.get("minLength"), schema.get("maxLength")
    if isinstance(most, int):
        text = text[:most]
    return text.ljust(cast("int", least), "…") if isinstance(least, int) else text


def shortened(text: str, limit: int) -> str:
    """Return one line of at most ``limit`` characters, cut between words."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    return (cut.rpartition(" ")[0] or cut).rstrip(" .,;:") + "…"
