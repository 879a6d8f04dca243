"""Builds prompts for suggestions: a question for chat models, plain text for fill-in. Pure.

Used by ``candidates``. Text from documents is delimited by a random boundary per request, so that
it cannot end its block early (see docs/design/security.md#prompt-injection-and-taint).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

from jupyter_ai_shoulders.assist.inline_completion.caret_window import CaretWindow
from jupyter_ai_shoulders.assist.inline_completion.context import ContextPiece

_COMMENTS = {
    "c": "//",
    "c++": "//",
    "cpp": "//",
    "go": "//",
    "java": "//",
    "javascript": "//",
    "julia": "#",
    "python": "#",
    "r": "#",
    "rust": "//",
    "scala": "//",
    "sql": "--",
    "typescript": "//",
}
"""Comment prefixes by language; other languages get no comments."""


@dataclass(frozen=True, slots=True)
class CompletionContext:
    """Everything that is sent for one caret."""

    path: str
    language: str
    is_cell: bool
    text: CaretWindow
    pieces: tuple[ContextPiece, ...] = ()
    """Context from the rest of the document."""
    variables: str = ""
    """The kernel's variables by name, type and columns, without values."""
    instructions: tuple[str, ...] = ()
    """The user's instructions, in the form a prompt has."""
    fingerprint: Hashable = None
    """Identifies the surroundings of the caret's own text; a change invalidates cached suggestions.
    """


def system_text(context: CompletionContext) -> str:
    """Return the system prompt."""
    return "\n\n".join([shipped_text(), *context.instructions])


@cache
def shipped_text() -> str:
    """Return the shipped part of the system prompt; cached, as it never changes at run time."""
    folder = resources.files("jupyter_ai_shoulders.assist.inline_completion") / "prompts"
    return (folder / "ghost.md").read_text("utf-8").strip()


def question_text(context: CompletionContext, boundary: str) -> str:
    """Return the user's message; ``boundary`` occurs in no document."""
    where = "a cell of the notebook" if context.is_cell else "the file"
    language = f", language: {context.language}" if context.language else ""
    return "\n".join(
        [
            f"The caret is in {where} {_flat(context.path)}{language}.",
            *_blocks(context, boundary),
            _exact("before", context.text.shown_prefix, boundary),
            _exact("after", context.text.shown_suffix, boundary),
        ]
    )


def _blocks(context: CompletionContext, boundary: str) -> Iterator[str]:
    if context.pieces:
        told = "\n\n".join(f"[{_flat(piece.name)}]\n{piece.text}" for piece in context.pieces)
        yield from _block("context", told, boundary)
    if context.variables:
        yield from _block("variables", context.variables, boundary)


def _block(name: str, text: str, boundary: str) -> tuple[str, str, str]:
    return f"<{name} {boundary}>", text.replace(boundary, ""), f"</{name} {boundary}>"


def _exact(name: str, text: str, boundary: str) -> str:
    """Return a text between its boundaries, without adding a line end to it."""
    return f"<{name} {boundary}>{text.replace(boundary, '')}</{name} {boundary}>"


def fill_texts(context: CompletionContext) -> tuple[str, str]:
    """Return the text before and the text after the caret, for fill-in-the-middle models.

    The context goes first, as one script with prose in comments. The omission mark ``[…]`` is left
    out, because the model would read it as text.
    """
    head = "\n\n".join([*_comment_lines(context), *_scripts(context)])
    before = f"{head}\n\n{context.text.prefix}" if head else context.text.prefix
    return before, context.text.suffix


def _comment_lines(context: CompletionContext) -> Iterator[str]:
    comment_prefix = _COMMENTS.get(context.language)
    if comment_prefix is not None:
        yield _commented(comment_prefix, [_flat(context.path), *context.variables.splitlines()])


def _scripts(context: CompletionContext) -> Iterator[str]:
    comment_prefix = _COMMENTS.get(context.language)
    for piece in context.pieces:
        if piece.text.strip():
            script = piece.text.splitlines()
            yield (
                piece.text
                if piece.is_code or comment_prefix is None
                else _commented(comment_prefix, script)
            )


def _commented(comment_prefix: str, lines: Iterable[str]) -> str:
    return "\n".join(f"{comment_prefix} {line}".rstrip() for line in lines)


def _flat(name: str) -> str:
    """Return a name on one line."""
    return " ".join(name.split())[:300]
