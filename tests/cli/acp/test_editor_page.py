"""What the engine learns from an editor that answers late, wrong or with an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from acp import RequestError, schema

from jupyter_ai_shoulders.cli.acp.editor_page import EditorPage
from jupyter_ai_shoulders.wire import frames
from jupyter_ai_shoulders.wire.ids import ClientId, OperationId
from jupyter_ai_shoulders.wire.versions import text_version

BEFORE, AFTER = "one\ntwo\n", "one\nTWO\n"
ONE = OperationId("operation_1")
LATER = 10**15


@dataclass
class Editor:
    """An editor with one text; ``reads`` and ``writes`` say what becomes of requests."""

    text: str = BEFORE
    reads: Callable[[str], Any] = lambda text: schema.ReadTextFileResponse(content=text)
    writes: Callable[[Editor, str], None] = lambda editor, text: setattr(editor, "text", text)
    paths: list[str] = field(default_factory=list[str])

    async def read_text_file(self, path: str, **kwargs: Any) -> Any:
        del kwargs
        self.paths.append(path)
        return self.reads(self.text)

    async def write_text_file(self, path: str, content: str, **kwargs: Any) -> Any:
        del kwargs
        self.paths.append(path)
        self.writes(self, content)


@dataclass
class Engine:
    """An engine that asks at once."""

    said: list[frames.PageFrame] = field(default_factory=list[frames.PageFrame])

    def connect_editor(self, client_id: ClientId, editor: frames.TextEditor, receive: Any) -> Any:
        del client_id, receive
        self.said.append(editor)
        return self

    def wait(self) -> bool:
        return True

    def send(self, frame: frames.PageFrame) -> None:
        self.said.append(frame)

    def close(self) -> None:
        pass


async def answer(
    editor: Editor, frame: frames.TextRead | frames.TextApply, folder: str = "."
) -> frames.PageFrame:
    """Return the page's answer to a request."""
    engine = Engine()
    page = EditorPage(cast("Any", editor), cast("Any", engine), folder)
    assert await page.begin("ses_1", "/somewhere/else")
    await page._answer(frame)  # pyright: ignore[reportPrivateUsage] frames come from another thread
    return engine.said[-1]


def apply(**other: Any) -> frames.TextApply:
    given: dict[str, Any] = {"expected": text_version(BEFORE), "deadline_ms": LATER, "text": AFTER}
    return frames.TextApply(operation_id=ONE, claim_epoch=0, path="src/a.py", **(given | other))


def refuses(*_: Any) -> None:
    raise RequestError(-32603, "read-only")


def breaks_off(editor: Editor, text: str) -> None:
    editor.text = text
    raise ConnectionError


def formats(editor: Editor, text: str) -> None:
    editor.text = text.replace("TWO", "T W O")


def nothing(editor: Editor, text: str) -> None:
    del editor, text


def refusal(reason: Any, message: str) -> frames.TextRefused:
    return frames.TextRefused(operation_id=ONE, reason=reason, message=message)


def applied(text: str) -> frames.TextApplied:
    return frames.TextApplied(operation_id=ONE, version=text_version(text), saves=False)


@pytest.mark.parametrize(
    ("editor", "frame", "told", "text"),
    [
        (Editor(), apply(), applied(AFTER), AFTER),
        (Editor(writes=formats), apply(), applied("one\nT W O\n"), "one\nT W O\n"),
        (Editor(writes=breaks_off), apply(), applied(AFTER), AFTER),
        (
            Editor(writes=nothing),
            apply(),
            refusal("failed", "it did not change the text"),
            BEFORE,
        ),
        (Editor(writes=refuses), apply(), refusal("failed", "read-only"), BEFORE),
        (Editor(reads=refuses), apply(), refusal("failed", "read-only"), BEFORE),
        (
            Editor(reads=lambda _: schema.ReadTextFileResponse.model_validate({"content": 1})),
            apply(),
            refusal("failed", "it gave no usable answer (ValidationError)"),
            BEFORE,
        ),
        (Editor(), apply(deadline_ms=1), refusal("deadline", "it was too late"), BEFORE),
        (
            Editor(text="typed\n"),
            apply(),
            frames.TextConflict(operation_id=ONE, text="typed\n", dirty=True),
            "typed\n",
        ),
    ],
    ids=[
        *("done", "formatted", "done with an error", "ignored", "refused", "unreadable"),
        *("no text", "late", "stale"),
    ],
)
async def test_a_change_is_reported_as_it_was_made(
    editor: Editor, frame: frames.TextApply, told: frames.PageFrame, text: str
) -> None:
    assert await answer(editor, frame) == told
    assert editor.text == text


async def test_paths_are_those_of_the_editors_folder() -> None:
    editor = Editor()
    await answer(editor, apply(), "src")
    assert set(editor.paths) == {str(Path("/somewhere/else/a.py"))}


async def test_work_of_no_page_uses_the_editor_until_its_last_prompt_ends() -> None:
    engine = Engine()
    page = EditorPage(cast("Any", Editor()), cast("Any", engine), ".")
    for _ in range(2):
        await page.begin("ses_1", "/somewhere")
    page.end()
    page.end()
    told = [each.answering for each in cast("list[frames.TextEditor]", engine.said)]
    assert told == [True, True, False]
