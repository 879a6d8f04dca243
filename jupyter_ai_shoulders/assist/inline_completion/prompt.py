"""What a model is told of a caret: as a question (chat), or as text to go on with (fill-in). Pure.

Called by ``ghost.drafts``. What comes out of documents stands between lines with a mark of this
request, so that nothing in it can end it early (chapter 13).
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
"""What begins a remark; nothing is remarked in other languages."""


@dataclass(frozen=True, slots=True)
class CompletionContext:
    """All that is sent for one caret."""

    path: str
    language: str
    is_cell: bool
    text: CaretWindow
    pieces: tuple[ContextPiece, ...] = ()
    """Of the rest of the document."""
    variables: str = ""
    """What the kernel has, by name, type and columns; without values."""
    instructions: tuple[str, ...] = ()
    """The user's own, as they stand in a prompt."""
    fingerprint: Hashable = None
    """Names all that is around the caret's own text: suggestions of another world are old."""


def system_text(context: CompletionContext) -> str:
    """Return the system prompt."""
    return "\n\n".join([shipped_text(), *context.instructions])


@cache
def shipped_text() -> str:
    """Return the text that is ours; read once, as it only changes with the program."""
    folder = resources.files("jupyter_ai_shoulders.assist.inline_completion") / "prompts"
    return (folder / "ghost.md").read_text("utf-8").strip()


def question_text(context: CompletionContext, boundary: str) -> str:
    """Return the user's message; ``mark`` is in no document."""
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
    """Return a text between its marks, with no line end that is not its own."""
    return f"<{name} {boundary}>{text.replace(boundary, '')}</{name} {boundary}>"


def fill_texts(context: CompletionContext) -> tuple[str, str]:
    """Return the text before and the text after, for models that only go on with text.

    The context stands before, as one script, with prose as remarks; ``[…]`` would be taken for
    text, so it is left out.
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
