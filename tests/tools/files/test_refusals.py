"""Everything the file tools refuse: what is said, and that nothing was changed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.core.redaction.redactor import MASK
from jupyter_ai_shoulders.files.base import (
    ChangeOrigin,
    TextEditApplied,
    TextEditConflict,
    TextSnapshot,
)
from jupyter_ai_shoulders.wire.errors import ErrorCode
from jupyter_ai_shoulders.wire.ids import Version
from jupyter_ai_shoulders.wire.versions import text_version
from tests.tools.file_conversation import FileConversation, notebook
from tests.tools.notebook_conversation import text_of

KEY = "sk-ant-" + "a" * 30


@dataclass(frozen=True)
class Refused:
    """A call that is refused, in a workspace as ``prepared``."""

    tool: str
    path: str
    code: ErrorCode
    says: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    read: str | None = None
    """What the conversation reads first."""


X = {"content": "x"}
OLD = {"old_string": "one", "new_string": "two"}


def to(path: str) -> dict[str, Any]:
    return {"new_path": path}


def many(
    tools: str, path: str, code: ErrorCode, says: str, read: str | None = None
) -> dict[str, Refused]:
    """Return the same refusal for several tools."""
    arguments: dict[str, dict[str, Any]] = {
        "write_file": X,
        "create_file": X,
        "edit_file": OLD,
        "rename_file": to("new.txt"),
        "move_file": to("new.txt"),
        "duplicate_file": to("new.txt"),
    }
    return {
        f"{tool} {path} {says}": Refused(tool, path, code, says, arguments.get(tool, {}), read)
        for tool in tools.split()
    }


ALL = "read_file write_file create_file edit_file rename_file move_file duplicate_file delete_file"
NOT_READING = ALL.removeprefix("read_file ")
"""Reading a file of keys asks the user: see ``test_secret_reads``."""
WRITING = "write_file create_file edit_file"
CHANGING = f"{WRITING} rename_file move_file delete_file"

REFUSALS: dict[str, Refused] = {
    # names
    **many(ALL, "../outside.txt", "outside_workspace", "outside the workspace"),
    **many(ALL, "/etc/passwd", "outside_workspace", "outside the workspace"),
    **many(ALL, "link.txt", "outside_workspace", "link.txt"),
    **many(ALL, "~/a.txt", "invalid_request", "not expanded"),
    **many(ALL, "a\0.txt", "invalid_request", "NUL"),
    # secrets and the state directory
    **many(NOT_READING, ".env", "forbidden", "keys or passwords"),
    **many(NOT_READING, "deploy/.ssh/id_rsa", "forbidden", "keys or passwords"),
    **many(NOT_READING, "KEYS.PEM", "forbidden", "keys or passwords"),
    **many(ALL, ".shoulders/tools.json", "forbidden", "keys or passwords"),
    "moving out of the way of the list": Refused(
        "rename_file", "a.txt", "forbidden", "keys or passwords", to(".env.local")
    ),
    "moving a folder of keys": Refused(
        "rename_file", "deploy/.ssh", "forbidden", "keys or passwords", to("keys")
    ),
    # kinds of files
    **many(WRITING, "n.ipynb", "invalid_arguments", "is a notebook"),
    **many(WRITING, "new.IPYNB", "invalid_arguments", "is a notebook"),
    **many(WRITING, "notebook-link.txt", "invalid_arguments", "is a notebook"),
    **many(WRITING, "book.xlsx", "invalid_arguments", "not be a text file"),
    **many("write_file create_file", "new.docx", "invalid_arguments", "Use edit_document_file"),
    **many("write_file create_file", "new.pdf", "invalid_arguments", "not be a text file"),
    **many("write_file create_file", "new.pptx", "invalid_arguments", "not be a text file"),
    **many("write_file edit_file", "a.bin", "invalid_request", "not a text file"),
    **many(f"{WRITING} duplicate_file delete_file", "data", "invalid_request", "is a folder"),
    **many(f"{WRITING} delete_file", ".", "invalid_request", "not a file"),
    "a notebook stays one": Refused(
        "rename_file", "n.ipynb", "invalid_arguments", "a notebook stays one", to("n.json")
    ),
    "nothing becomes a notebook": Refused(
        "duplicate_file", "a.txt", "invalid_arguments", "a notebook stays one", to("a.ipynb")
    ),
    "a pipe": Refused("read_file", "pipe", "invalid_request", "not a regular file"),
    # what is not there, or is there already
    **many(
        "read_file edit_file rename_file move_file duplicate_file delete_file",
        "none.txt",
        "not_found",
        "no file none.txt",
    ),
    "a taken name": Refused("create_file", "a.txt", "conflict", "already", X),
    "moving onto a file": Refused("move_file", "a.txt", "conflict", "already", to("b.txt")),
    "copying onto a file": Refused("duplicate_file", "a.txt", "conflict", "already", to("b.txt")),
    "moving onto itself": Refused("rename_file", "a.txt", "conflict", "already", to("a.txt")),
    "a file as a folder": Refused("create_file", "a.txt/x", "conflict", "is a file", X),
    "a folder into itself": Refused(
        "move_file", "data", "invalid_request", "inside of it", to("data/deep/er")
    ),
    # what was not read, or only in part
    **many("write_file edit_file delete_file", "a.txt", "not_read", "was not read"),
    **many("delete_file", "a.bin", "not_read", "was not read"),
    **many("delete_file", "n.ipynb", "not_read", "was not read"),
    "writing over what was read in part": Refused(
        "write_file", "long.txt", "not_read", "Only a part", X, read="long.txt"
    ),
    # text that does not fit
    "text that is not there": Refused(
        "edit_file",
        "a.txt",
        "not_found",
        "The most similar lines:\nline 2: second line",
        {"old_string": "secnd line", "new_string": "x"},
        read="a.txt",
    ),
    "text that is there twice": Refused(
        "edit_file",
        "a.txt",
        "ambiguous",
        "occurs 2 times in a.txt, beginning on lines 2, 3",
        {"old_string": " line", "new_string": "x"},
        read="a.txt",
    ),
    "all of what is not there": Refused(
        "edit_file",
        "a.txt",
        "not_found",
        "does not occur",
        {"old_string": "zzz", "new_string": "x", "replace_all": True},
        read="a.txt",
    ),
    "a secret that is not shown": Refused(
        "write_file",
        "key.py",
        "invalid_arguments",
        "a secret you are not shown",
        {"content": f"KEY = '{MASK}'\nx = 2\n"},
        read="key.py",
    ),
    "a secret in an edit": Refused(
        "edit_file",
        "key.py",
        "invalid_arguments",
        "a secret you are not shown",
        {"old_string": "x = 1", "new_string": f"x = '{MASK}'"},
        read="key.py",
    ),
    "a character that the encoding lacks": Refused(
        "edit_file",
        "old.txt",
        "invalid_request",
        "cp1252",
        {"old_string": "größe", "new_string": "大きさ"},
        read="old.txt",
    ),
    # pages
    "moving what is not saved": Refused(
        "move_file", "open.txt", "conflict", "unsaved changes", to("x.txt")
    ),
    "deleting what is not saved": Refused(
        "delete_file", "open.txt", "conflict", "unsaved changes", read="open.txt"
    ),
}


def prepare(files: FileConversation) -> None:
    here = files.here
    here.write("a.txt", "one\nsecond line\nthird line\n")
    here.write("b.txt", "b\n")
    here.write("open.txt", "one\n")
    here.write("old.txt", "größe\n".encode("cp1252"))
    here.write("key.py", f"KEY = '{KEY}'\nx = 1\n")
    here.write("long.txt", "".join(f"line {number}\n" for number in range(4_000)))
    here.write("a.bin", b"\x00\x01\x02")
    here.write("data/deep/x.txt", "one\n")
    here.write("n.ipynb", notebook("a = 1"))
    here.write("book.xlsx", b"PK\x03\x04 not really")
    for secret in (".env", "deploy/.ssh/id_rsa", "KEYS.PEM", ".shoulders/tools.json"):
        here.write(secret, f"KEY={KEY}\n")
    outside = here.root.parent / "outside.txt"
    outside.write_text("one\n")
    (here.root / "link.txt").symlink_to(outside)
    (here.root / "notebook-link.txt").symlink_to("n.ipynb")
    os.mkfifo(here.root / "pipe")
    here.pages.dirty.add("open.txt")


def bytes_of(files: FileConversation) -> dict[str, bytes]:
    """Return every file of the workspace and beside it."""
    top = files.here.root.parent
    return {
        str(path.relative_to(top)): path.read_bytes()
        for path in sorted(top.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("refused", REFUSALS.values(), ids=[*map(ascii, REFUSALS)])
async def test_refused_call_says_why_and_changes_nothing(files: FileConversation, refused: Refused):
    prepare(files)
    if refused.read is not None:
        await files.call("read_file", refused.read)
    before = bytes_of(files)
    try:
        result = await files.call(refused.tool, refused.path, **refused.arguments)
    except ShouldersError as error:
        code, said = error.info.code, f"{error.info.message} {error.info.hint}"
    else:
        assert result.envelope.error is not None, text_of(result)
        code, said = result.envelope.error.code, text_of(result)
    assert refused.says in said
    assert code == refused.code
    assert KEY not in said
    assert bytes_of(files) == before
    assert all(state == "failed" for _, _, state in files.here.states())


@pytest.mark.parametrize("tool", ["write_file", "edit_file"])
async def test_file_the_user_changed_is_not_overwritten_and_becomes_a_proposal(
    files: FileConversation, tool: str
):
    files.here.write("a.txt", "one\n")
    await files.call("read_file", "a.txt")
    files.here.write("a.txt", "mine\nuser\n")
    arguments = {"content": "two\n"} if tool == "write_file" else OLD
    result = await files.call(tool, "a.txt", **arguments)
    assert result.envelope.error is not None
    assert result.envelope.error.code == "stale"
    assert files.here.read("a.txt") == b"mine\nuser\n"
    assert "2: user" in text_of(result)
    proposal = result.proposal
    assert proposal is not None
    assert (proposal.old, proposal.new, proposal.current) == ("one\n", "two\n", "mine\nuser\n")
    assert (proposal.document, proposal.cell_id) == ("a.txt", None)
    assert proposal.current_version == text_version("mine\nuser\n")


@pytest.mark.parametrize("tool", ["write_file", "edit_file"])
async def test_file_the_user_changed_elsewhere_is_merged_and_the_model_is_told(
    files: FileConversation, tool: str
):
    files.here.write("a.txt", "one\nlast\n")
    await files.call("read_file", "a.txt")
    files.here.write("a.txt", "one\nlast\nuser\n")
    arguments = {"content": "two\nlast\n"} if tool == "write_file" else OLD
    result = await files.call(tool, "a.txt", **arguments)
    assert (result.ok, result.proposal) == (True, None)
    assert files.here.read("a.txt") == b"two\nlast\nuser\n"
    told = text_of(result).partition("their changes stay:")[2]
    assert "+user" in told
    assert (await files.call("write_file", "a.txt", content="new\n")).ok


async def test_file_that_was_refused_as_changed_is_read_from_then_on(files: FileConversation):
    files.here.write("a.txt", "one\n")
    assert not (await files.call("write_file", "a.txt", content="two\n")).ok
    assert (await files.call("write_file", "a.txt", content="two\n")).ok


@pytest.mark.parametrize("content", ["one\nuser\n", b"\x00\x01"])
async def test_file_the_user_changed_is_not_deleted(files: FileConversation, content: str | bytes):
    files.here.write("a.dat", "one\n" if isinstance(content, str) else b"\x00\x02")
    await files.call("read_file", "a.dat")
    files.here.write("a.dat", content)
    result = await files.call("delete_file", "a.dat")
    assert result.envelope.error is not None
    assert result.envelope.error.code == "stale"
    assert (await files.call("delete_file", "a.dat")).ok


async def test_notebook_the_user_changed_is_not_deleted(files: FileConversation):
    files.here.write("n.ipynb", notebook("a = 1"))
    await files.call("read_file", "n.ipynb")
    files.here.write("n.ipynb", notebook("a = 2"))
    result = await files.call("delete_file", "n.ipynb")
    assert result.envelope.error is not None
    assert result.envelope.error.code == "stale"
    assert "a = 2" in text_of(result)
    assert (await files.call("delete_file", "n.ipynb")).ok


class Racing:
    """``TextDocuments`` of a file that changes in the moment it is written."""

    def __init__(self, files: FileConversation, current: str | None) -> None:
        self._texts = files.here.texts
        self._current = current

    def in_page(self, path: str) -> bool:
        return False

    async def read(self, path: str) -> TextSnapshot:
        return await self._texts.read(path)

    async def replace(
        self, path: str, text: str, expected: Version, origin: ChangeOrigin
    ) -> TextEditApplied | TextEditConflict:
        if self._current is None:
            return TextEditConflict(None)
        snapshot = await self._texts.read(path)
        version = text_version(self._current)
        return TextEditConflict(
            TextSnapshot(
                path=snapshot.path,
                text=self._current,
                version=version,
                backend="disk",
                dirty=False,
                encoding="utf-8",
                newline="\n",
            )
        )


@pytest.mark.parametrize(
    ("current", "code", "says"),
    [("user\n", "stale", "1: user"), (None, "not_found", "was deleted")],
)
async def test_file_that_changes_while_it_is_written_is_not_overwritten(
    files: FileConversation, current: str | None, code: ErrorCode, says: str
):
    files.here.write("a.txt", "one\n")
    racing = FileConversation(files.here, files.notebooks, texts=Racing(files, current))
    await racing.call("read_file", "a.txt")
    result = await racing.call("edit_file", "a.txt", **OLD)
    assert result.envelope.error is not None
    assert result.envelope.error.code == code
    assert says in text_of(result)
    assert (result.proposal is not None) == (current is not None)
