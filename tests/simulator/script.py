"""Vendor-neutral scripts of replies: parts, usage, stop reason and delivery.

Tests build replies with ``reply(...)``; a simulator process reads them from JSON. ``Script``
selects the reply to a request; each format's ``reply`` module encodes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Format = Literal["anthropic", "openai_chat", "openai_responses", "google", "ollama", "fill_in"]


class SimModel(BaseModel):
    """A frozen value of a script; unknown fields are refused so that a typo is seen."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Text(SimModel):
    """Text. ``split`` is how it is cut into deltas: by words, not at all, or every N characters."""

    kind: Literal["text"] = "text"
    text: str
    split: Literal["words", "whole"] | int = "words"


class Reasoning(SimModel):
    """Reasoning; left out of the answer when the request has thinking switched off."""

    kind: Literal["reasoning"] = "reasoning"
    text: str
    redacted: bool = False


class ToolUse(SimModel):
    """A tool call. Text as ``arguments`` is sent as it is, valid JSON or not."""

    kind: Literal["tool"] = "tool"
    name: str
    arguments: dict[str, JsonValue] | str = Field(default_factory=dict[str, JsonValue])
    id: str | None = None


Part = Annotated[Text | Reasoning | ToolUse, Field(discriminator="kind")]


class Usage(SimModel):
    """Tokens to report; ``input`` counts cached ones too."""

    input: int = 100
    output: int = 20
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


Stop = Literal[
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "refusal",
    "content_filter",
    "pause_turn",
    "context_window",
    "missing",
]


class Failure(SimModel):
    """An error instead of (``after`` None) or in the middle of (after so many events) an answer.

    ``type``, ``message`` and ``code`` default to what the vendor sends with the status. With
    ``body`` the text is sent as it is, under ``content_type``. ``shape`` is for the formats that
    say an error inside a stream in several ways. Responses: an event that has an
    error object or is one itself, each followed by the failed response, or that response alone.
    Google: an event, JSON without ``data:`` over several lines, or the same in a list.
    """

    status: int = 500
    type: str | None = None
    message: str | None = None
    code: str | None = None
    headers: dict[str, str] = Field(default_factory=dict[str, str])
    body: str | None = None
    content_type: str = "application/json"
    after: int | None = None
    shape: Literal["nested", "flat", "failed"] = "nested"


class Delivery(SimModel):
    """How the bytes of a streamed answer travel.

    ``chunk``: bytes per write, one size or several taken in turn. ``ending``: ``normal``;
    ``no_terminator`` ends the body in order without the closing event; ``cut`` closes the socket
    inside the body; ``reset`` resets it; ``stall`` goes silent until the client leaves. The last
    four happen after ``ending_after`` events, by default just before the closing event. Delays
    are in seconds.
    """

    chunk: int | tuple[int, ...] | None = None
    line_end: Literal["\n", "\r\n", "\r"] = "\n"
    space_after_colon: bool = True
    byte_order_mark: bool = False
    final_blank_line: bool = True
    comments: bool = False
    pings: int = 0
    unknown_events: bool = False
    first_byte_delay: float = 0.0
    event_delay: float = 0.0
    tokens_per_second: float | None = None
    ending: Literal["normal", "no_terminator", "cut", "reset", "stall"] = "normal"
    ending_after: int | None = None


class Reply(SimModel):
    """One scripted answer; ``usage`` None is estimated, ``report_usage`` False leaves it out."""

    parts: tuple[Part, ...] = ()
    stop: Stop | None = None
    usage: Usage | None = None
    report_usage: bool = True
    failure: Failure | None = None
    delivery: Delivery = Delivery()

    def stop_reason(self) -> Stop:
        """Return the stop given, else the one that fits the parts."""
        if self.stop is not None:
            return self.stop
        return "tool_use" if any(isinstance(part, ToolUse) for part in self.parts) else "end_turn"


def reply(
    *parts: str | Text | Reasoning | ToolUse,
    stop: Stop | None = None,
    usage: Usage | None = None,
    report_usage: bool = True,
    failure: Failure | None = None,
    delivery: Delivery | None = None,
) -> Reply:
    """Return a reply of these parts; strings become text."""
    return Reply(
        parts=tuple(Text(text=part) if isinstance(part, str) else part for part in parts),
        stop=stop,
        usage=usage,
        report_usage=report_usage,
        failure=failure,
        delivery=delivery or Delivery(),
    )


def rate_limited(status: int = 429, **headers: str) -> Reply:
    """Return a rate limit answer; ``retry_after="2"`` becomes the header ``retry-after: 2``."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return reply(failure=Failure(status=status, headers=named))


def overloaded(after: int | None = None) -> Reply:
    """Return an overload: status 529, or an error event inside a stream that began."""
    return reply("This answer is cut short.", failure=Failure(status=529, after=after))


def html_error(status: int = 502) -> Reply:
    """Return the page of a proxy in between."""
    page = f"<html><head><title>{status}</title></head><body>Bad gateway</body></html>"
    return reply(failure=Failure(status=status, body=page, content_type="text/html"))


@dataclass(frozen=True, slots=True)
class SimRequest:
    """A request that passed all checks, as scripts see it.

    ``user_text`` is the text of the latest user message that has any; ``tool_results`` are the
    texts of the results in the last message (all trailing tool messages for Chat Completions).
    """

    format: Format
    model: str
    stream: bool
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    user_text: str
    tool_results: tuple[str, ...]
    tool_names: tuple[str, ...]


class When(SimModel):
    """A condition on a request: regular expressions, searched; all given ones must match."""

    user: str | None = None
    tool_result: str | None = None
    model: str | None = None
    has_results: bool | None = None

    def matches(self, request: SimRequest) -> bool:
        """Return whether the request fits."""
        return (
            found(self.user, request.user_text)
            and found(self.tool_result, "\n".join(request.tool_results))
            and found(self.model, request.model)
            and self.has_results in (None, bool(request.tool_results))
        )


def found(pattern: str | None, text: str) -> bool:
    """Return whether the pattern occurs; no pattern always does."""
    return pattern is None or re.search(pattern, text, re.IGNORECASE) is not None


class Rule(SimModel):
    """A reply for every request that fits."""

    when: When = When()
    reply: Reply


class ScriptFile(SimModel):
    """A script as JSON: replies in order, then the first rule that fits, then the default."""

    replies: tuple[Reply, ...] = ()
    rules: tuple[Rule, ...] = ()
    default: Reply | None = None


Entry = Reply | str | Callable[[SimRequest], Reply | str]


NO_REPLY = "The simulator's script has no reply for this request."


class ScriptExhausted(Exception):
    """A request came for which the script has nothing."""


@dataclass(slots=True)
class Script:
    """Picks the reply for each request."""

    replies: list[Entry] = field(default_factory=list[Entry])
    rules: list[Rule] = field(default_factory=list[Rule])
    default: Entry | None = None

    @classmethod
    def from_file(cls, content: ScriptFile) -> Script:
        """Return the script a JSON file holds."""
        script = cls()
        script.add(content)
        return script

    def add(self, content: ScriptFile) -> None:
        """Add what a JSON file holds; its default replaces the present one."""
        self.replies.extend(content.replies)
        self.rules.extend(content.rules)
        self.default = content.default or self.default

    def next(self, request: SimRequest) -> Reply:
        """Return the reply for this request. Raises ``ScriptExhausted``."""
        entry = self._entry(request)
        answer = entry if isinstance(entry, (Reply, str)) else entry(request)
        return reply(answer) if isinstance(answer, str) else answer

    def _entry(self, request: SimRequest) -> Entry:
        if self.replies:
            return self.replies.pop(0)
        for rule in self.rules:
            if rule.when.matches(request):
                return rule.reply
        if self.default is None:
            raise ScriptExhausted(NO_REPLY)
        return self.default
