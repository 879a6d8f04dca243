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
    world: Hashable = None
    """Names all that is around the caret's own text: suggestions of another world are old."""


def system_text(scene: CompletionContext) -> str:
    """Return the system prompt."""
    return "\n\n".join([shipped_text(), *scene.instructions])


@cache
def shipped_text() -> str:
    """Return the text that is ours; read once, as it only changes with the program."""
    folder = resources.files("jupyter_ai_shoulders.assist.inline_completion") / "prompts"
    return (folder / "ghost.md").read_text("utf-8").strip()


def question_text(scene: CompletionContext, mark: str) -> str:
    """Return the user's message; ``mark`` is in no document."""
    where = "a cell of the notebook" if scene.is_cell else "the file"
    language = f", language: {scene.language}" if scene.language else ""
    return "\n".join(
        [
            f"The caret is in {where} {_flat(scene.path)}{language}.",
            *_blocks(scene, mark),
            _exact("before", scene.text.shown_prefix, mark),
            _exact("after", scene.text.shown_suffix, mark),
        ]
    )


def _blocks(scene: CompletionContext, mark: str) -> Iterator[str]:
    if scene.pieces:
        told = "\n\n".join(f"[{_flat(piece.name)}]\n{piece.text}" for piece in scene.pieces)
        yield from _block("context", told, mark)
    if scene.variables:
        yield from _block("variables", scene.variables, mark)


def _block(name: str, text: str, mark: str) -> tuple[str, str, str]:
    return f"<{name} {mark}>", text.replace(mark, ""), f"</{name} {mark}>"


def _exact(name: str, text: str, mark: str) -> str:
    """Return a text between its marks, with no line end that is not its own."""
    return f"<{name} {mark}>{text.replace(mark, '')}</{name} {mark}>"


def fill_texts(scene: CompletionContext) -> tuple[str, str]:
    """Return the text before and the text after, for models that only go on with text.

    The context stands before, as one script, with prose as remarks; ``[…]`` would be taken for
    text, so it is left out.
    """
    head = "\n\n".join([*_remarks(scene), *_scripts(scene)])
    before = f"{head}\n\n{scene.text.prefix}" if head else scene.text.prefix
    return before, scene.text.suffix


def _remarks(scene: CompletionContext) -> Iterator[str]:
    sign = _COMMENTS.get(scene.language)
    if sign is not None:
        yield _remarked(sign, [_flat(scene.path), *scene.variables.splitlines()])


def _scripts(scene: CompletionContext) -> Iterator[str]:
    sign = _COMMENTS.get(scene.language)
    for piece in scene.pieces:
        if piece.text.strip():
            script = piece.text.splitlines()
            yield piece.text if piece.is_code or sign is None else _remarked(sign, script)


def _remarked(sign: str, lines: Iterable[str]) -> str:
    return "\n".join(f"{sign} {line}".rstrip() for line in lines)


def _flat(name: str) -> str:
    """Return a name on one line."""
    return " ".join(name.split())[:300]
