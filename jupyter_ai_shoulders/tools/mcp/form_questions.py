"""Turns what a server asks the user (elicitation) into single questions, and answers into values.

Pure. A form has one question for each field. ``/decline`` declines, ``/cancel`` cancels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast
from urllib.parse import urlsplit

from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.hidden_characters import visible

Action = Literal["accept", "decline", "cancel"]
MAX_FIELDS = 20
MAX_MESSAGE = 1_000
MAX_CHOICES = 20
MAX_OFFERED = 6
MAX_LABEL = 40
"""Choices that are offered as buttons."""
HINT = "/decline declines, /cancel cancels."
"""The last line of a question; a page has buttons instead."""
_SECRET = re.compile(
    r"pass(word|phrase|code)?|secret|token|api.?key|credential|\bpin\b", re.IGNORECASE
)
_YES = frozenset({"yes", "y", "true", "1"})
_NO = frozenset({"no", "n", "false", "0"})


@dataclass(frozen=True, slots=True)
class FieldQuestion:
    """A question about one field."""

    name: str
    prompt: str
    password: bool
    schema: Mapping[str, Json]
    required: bool

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the answers that are offered; empty: any text."""
        if not self.name:  # an agreement, which can be declined
            return ("yes",)
        if self.schema.get("type") == "array" or not self.required:
            return ()
        if self.schema.get("type") == "boolean":
            return ("yes", "no")
        choices = _choices(self.schema)
        offered = len(choices) <= MAX_OFFERED and all(map(_fits_button, choices))
        return tuple(choices) if offered else ()

    def value(self, answer: str) -> str | int | float | bool | list[str] | None:
        """Return the answer as the field's value, None for none. Raises ``ValueError``."""
        text = answer if self.password else answer.strip()
        if not text:
            if "default" in self.schema:
                return cast("str | int | float | bool | None", self.schema["default"])
            if self.required:
                raise ValueError("an answer is needed")
            return None
        kind = self.schema.get("type")
        if kind in {"integer", "number"}:
            return int(text) if kind == "integer" else float(text)
        if kind == "boolean":
            return _yes_or_no(text)
        return _picked(text, _choices(self.schema), several=kind == "array")


def _fits_button(choice: str) -> bool:
    return (
        0 < len(choice) <= MAX_LABEL
        and not choice.startswith("/")
        and choice == _cut(choice.strip())
    )


def _yes_or_no(text: str) -> bool:
    if text.lower() not in _YES | _NO:
        raise ValueError("answer yes or no")
    return text.lower() in _YES


def _picked(text: str, choices: list[str], *, several: bool) -> str | list[str]:
    picks = [part.strip() for part in text.split(",") if part.strip()] if several else [text]
    if choices and not set(picks) <= set(choices):
        raise ValueError("pick from the list" + (", with commas between" if several else ""))
    return picks if several else text


def given_action(answer: str) -> Action:
    """Return what the answer does."""
    match answer.strip().lower():
        case "/decline":
            return "decline"
        case "/cancel":
            return "cancel"
        case _:
            return "accept"


def form_questions(server: str, message: str, schema: JsonObject) -> list[FieldQuestion]:
    """Return the questions of a form; at least one, so that the message is seen."""
    properties = schema.get("properties")
    fields = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    needed = required if isinstance(required, list) else []
    head = f"The MCP server {server} asks: {_cut(message)}"
    if not fields:
        prompt = f"{head}\nAnswer yes to agree.\n{HINT}"
        return [FieldQuestion("", prompt, False, {"type": "boolean"}, True)]
    made: list[FieldQuestion] = []
    for name, part in list(fields.items())[:MAX_FIELDS]:
        field = part if isinstance(part, dict) else {}
        lead = f"{head}\n" if not made else ""
        prompt = f"{lead}{_described(name, field, needed=name in needed)}\n{HINT}"
        made.append(FieldQuestion(name, prompt, _is_secret(name, field), field, name in needed))
    return made


def link_question(server: str, message: str, url: str) -> str:
    """Return the question about an address that a server wants to be opened."""
    host = urlsplit(url).hostname or "an unknown host"
    return (
        f"The MCP server {server} asks you to open a page of {visible(host)}: {_cut(message)}\n"
        f"{visible(url)}\n"
        f"Answer yes after you opened it.\n{HINT}"
    )


def _described(name: str, field: Mapping[str, Json], *, needed: bool) -> str:
    title, said = field.get("title"), field.get("description")
    label = _cut(title if isinstance(title, str) else name)
    if isinstance(said, str) and said:
        label = f"{label} ({_cut(said)})"
    choices = _choices(field)
    if choices:
        label += ": " + ", ".join(map(visible, choices[:MAX_CHOICES]))
    if field.get("type") == "boolean":
        label += ": yes or no"
    if "default" in field:
        label += f" [{visible(str(field['default']))[:100]}]"
    elif not needed:
        label += " (may be left empty)"
    return f"{label}."


def _choices(field: Mapping[str, Json]) -> list[str]:
    items = field.get("items")
    source = items if field.get("type") == "array" and isinstance(items, dict) else field
    options = source.get("oneOf", source.get("anyOf"))
    values = source.get("enum")
    if isinstance(options, list):
        values = [option.get("const") for option in options if isinstance(option, dict)]
    listed = values if isinstance(values, list) else []
    return [value for value in listed if isinstance(value, str)]


def _is_secret(name: str, field: Mapping[str, Json]) -> bool:
    said = " ".join(str(field.get(key, "")) for key in ("title", "format"))
    return field.get("writeOnly") is True or bool(_SECRET.search(f"{name} {said}"))


def _cut(text: str) -> str:
    shown = visible(text[: MAX_MESSAGE + 1])
    return shown if len(shown) <= MAX_MESSAGE else shown[: MAX_MESSAGE - 1] + "…"
