"""Recognises the kind of a request, and splits one with several parts.

Pure; used by ``planner``. The rules are for English.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["fix", "explain", "plot", "profile", "checklist", "outline", "greet", "outside"]


def words(*alternatives: str) -> re.Pattern[str]:
    """Return a pattern that finds any of these as words."""
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b", re.IGNORECASE)


FIX = words(
    "fix(?:es|ed|ing)?", "repair", "correct (?:it|this|the)", "debug", "solve", "make it work"
)
TROUBLE = words(
    "errors?",
    "fail(?:s|ed|ing|ure)?",
    "broken?",
    "traceback",
    "exception",
    "[a-z]+Error",  # a class; mean_squared_error is a name
    "(?:does not|doesn't|doesnt|not) work(?:ing)?",
    "bugs?",
    "wrong",
    "crash(?:es|ed)?",
)
WHY = words(
    "why", "explain", "what does", "what is", "what's", "mean(?:s|ing)?", "understand", "cause"
)
PLOT = words(
    "plot(?:s|ted|ting)?",
    "charts?",
    "graphs?",
    "draw",
    "histograms?",
    "visuali[sz]e",
    "scatter(?: ?plot)?",
    "bar chart",
    "distribution",
    "picture",
)
TABLE = r"(?:the |my |this |these )?(?:data(?:frame|set)?s?|table|columns)"
PROFILE = words(
    "profil(?:e|es|ing)",
    "missing values?",
    "d(?:ata )?types?",
    "(?:how many|number of) (?:rows|columns)",
    rf"(?:describe|summari[sz]e|explore|inspect|overview of|summary of|look at) {TABLE}",
    rf"what(?:'s| is) in {TABLE}",
)
CHECKLIST = words("to-?do(?: ?list)?", "check ?list", "task list", "what is left", "what's left")
OUTLINE = words(
    "outline",
    "overview",
    "summar(?:y|ize|ise|ies)",
    "structure",
    "sections",
    "describe",
    "what (?:is|does) (?:in )?th(?:is|e) notebook",
    "explain (?:this|the) notebook",
    "what(?:'s| is) in",
)
GREETING = words(
    "hi",
    "hello",
    "hey",
    "good (?:morning|afternoon|evening)",
    "help",
    "what can you",
    "who are you",
    "what are you",
    "are you (?:an? )?(?:ai|model|real)",
)
QUOTED = re.compile(r"```.*?```|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”", re.DOTALL)
BETWEEN = re.compile(
    r"\s*(?:[;\n]|(?<!\bvs)(?<!\be\.g)(?<!\bi\.e)[.!?](?=\s)"
    r"|,?\s*\b(?:and then|then|after that|afterwards|finally|and|also)\b"
    r"|,(?=\s*(?:please\s+)?(?:fix|repair|explain|plot|draw|profile|describe|outline|summari[sz]e)\b))"
    r"\s*(?:[-*]\s+|\d+[.)]\s+)?",
    re.IGNORECASE,
)
ORDERS_PLOT = re.compile(
    r"^\W*(?:please\s+)?(?:plot|draw|chart|graph|visuali[sz]e)\b", re.IGNORECASE
)
SUMMARY_WORDS = 70


@dataclass(frozen=True, slots=True)
class RequestPart:
    """One part of a request, in the user's words."""

    kind: Kind
    words: str

    @property
    def title(self) -> str:
        """Return the words on one line, as an item of a list."""
        line = " ".join(self.words.split()).strip(" .,;:!?-*")
        short = line if len(line) <= SUMMARY_WORDS else line[:SUMMARY_WORDS].rstrip() + "…"
        return short[:1].upper() + short[1:]


def kind_of_request(said: str) -> Kind:
    """Return the kind of a request, by the first matching rule, ignoring quoted names."""
    bare = QUOTED.sub("`…`", said)
    if FIX.search(bare):
        return "fix"
    if TROUBLE.search(bare):
        return "explain" if WHY.search(bare) else "fix"
    rules: tuple[tuple[re.Pattern[str], Kind], ...] = (
        (PLOT, "plot"),
        (PROFILE, "profile"),
        (CHECKLIST, "checklist"),
        (OUTLINE, "outline"),
        (GREETING, "greet"),
    )
    for pattern, kind in rules:
        if pattern.search(bare):
            return kind
    return "outside"


def parts_of(said: str) -> list[RequestPart]:
    """Return the different parts of a request, in order."""
    found: list[RequestPart] = []
    at, pieces = 0, list[tuple[str, str]]()
    for gap in gaps(said):
        pieces.append((said[at : gap.start()], gap.group()))
        at = gap.end()
    joint = ""
    for piece, following in [*pieces, (said[at:], "")]:
        found = joined(found, piece, joint)
        joint = following
    work = [part for part in found if part.kind not in {"greet", "outside"}]
    if len(work) < 2:
        return [RequestPart(kind_of_request(said), said)]
    return work


def gaps(said: str) -> list[re.Match[str]]:
    """Return the boundaries of sentences and clauses outside quotes."""
    quotes = [found.span() for found in QUOTED.finditer(said)]
    return [
        gap
        for gap in BETWEEN.finditer(said)
        if not any(start < gap.end() and gap.start() < end for start, end in quotes)
    ]


def joined(found: list[RequestPart], piece: str, joint: str) -> list[RequestPart]:
    """Add a piece as a new part, or to the previous part where it only adds details."""
    if not piece.strip():
        return found
    kind = kind_of_request(piece)
    if not found:
        return [RequestPart(kind, piece)]
    last = found[-1]
    whole = f"{last.words}{joint}{piece}"
    if kind in {"outside", "greet"} or (kind == last.kind and not another_plot(last, piece)):
        return [*found[:-1], RequestPart(last.kind, whole)]
    if {kind, last.kind} == {"fix", "explain"}:
        return [*found[:-1], RequestPart("fix", whole)]
    if last.kind in {"outside", "greet"}:
        return [*found[:-1], RequestPart(kind, whole if last.kind == "outside" else piece)]
    return [*found, RequestPart(kind, piece)]


def another_plot(last: RequestPart, piece: str) -> bool:
    """Return whether a second plot is asked for."""
    return last.kind == "plot" and ORDERS_PLOT.match(piece) is not None
