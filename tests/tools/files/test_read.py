"""What the model reads of files."""

from __future__ import annotations

import base64
import os
import struct
import zlib

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, ShouldersError
from jupyter_ai_shoulders.files import disk_texts
from jupyter_ai_shoulders.tools.files import read
from jupyter_ai_shoulders.tools.files.numbered_lines import last_lines, numbered_lines
from jupyter_ai_shoulders.tools.files.read import ReadFileArguments
from jupyter_ai_shoulders.tools.truncation import fits_limits
from jupyter_ai_shoulders.wire.parts import ImagePart
from tests.files.previews.sample_documents import word
from tests.tools.file_conversation import FileConversation, notebook
from tests.tools.notebook_conversation import text_of


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        checked = kind + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + bytes(width)) * height)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )


async def test_text_is_shown_with_line_numbers(files: FileConversation):
    files.here.write("src/a.py", "import os\n\nprint(1)\n")
    result = await files.call("read_file", "./src/a.py")
    assert text_of(result) == 'File "src/a.py" (3 lines)\n1: import os\n2: \n3: print(1)'
    assert result.envelope.meta.total == 3
    assert files.seen == {("src/a.py", None): result.envelope.meta.document_version}


async def test_range_of_lines_says_where_to_read_on(files: FileConversation):
    files.here.write("a.txt", "".join(f"line {number}\n" for number in range(1, 11)))
    result = await files.call("read_file", "a.txt", start_line=3, end_line=4)
    assert text_of(result) == (
        'File "a.txt" (10 lines)\n3: line 3\n4: line 4\n'
        "[lines 3-4 of 10; read on with start_line=5]"
    )
    result = await files.call("read_file", "a.txt", tail_lines=2)
    assert text_of(result).endswith("\n9: line 9\n10: line 10\n[lines 9-10 of 10]")


async def test_long_file_is_shown_as_far_as_it_fits(files: FileConversation):
    files.here.write("a.txt", "".join(f"line {number}\n" for number in range(1, 6_001)))
    result = await files.call("read_file", "a.txt")
    text = text_of(result)
    assert fits_limits(text)
    assert "[lines 1-1980 of 6000; read on with start_line=1981]" in text
    assert result.envelope.meta.truncated


async def test_few_characters_are_shown_when_no_more_are_asked_for(files: FileConversation):
    files.here.write("a.txt", "".join(f"line {number}\n" for number in range(1, 101)))
    text = text_of(await files.call("read_file", "a.txt", max_chars=100))
    assert len(text) < 220
    assert "read on with start_line=" in text


async def test_line_longer_than_a_result_is_cut_and_not_read_whole(files: FileConversation):
    files.here.write("a.json", "x" * 300_000)
    result = await files.call("read_file", "a.json")
    assert "more characters of this line" in text_of(result)
    assert fits_limits(text_of(result))
    assert files.seen[("a.json", None)].startswith("part:")


async def test_lines_beyond_the_end_are_said_to_be_none(files: FileConversation):
    files.here.write("a.txt", "one\n")
    assert "[no such lines; the last is line 1]" in text_of(
        await files.call("read_file", "a.txt", start_line=7)
    )
    assert files.seen == {}


@pytest.mark.parametrize("content", ["", "\n"])
async def test_empty_file_is_said_to_be_empty(files: FileConversation, content: str):
    files.here.write("a.txt", content)
    text = text_of(await files.call("read_file", "a.txt"))
    assert ("(empty file)" in text) == (content == "")


async def test_part_read_after_the_whole_leaves_the_whole_known(files: FileConversation):
    files.here.write("a.txt", "one\ntwo\n")
    await files.call("read_file", "a.txt")
    known = dict(files.seen)
    await files.call("read_file", "a.txt", end_line=1)
    assert files.seen == known


ENCODINGS = {
    "utf-8 with a mark": ("größe\n".encode("utf-8-sig"), "utf-8 with BOM"),
    "cp1252": ("größe\n".encode("cp1252"), "cp1252"),
    "utf-16": ("größe\n".encode("utf-16"), "utf-16-le with BOM"),
    "line ends of Windows": ("größe\r\n".encode(), "CRLF line ends"),
}


@pytest.mark.parametrize(("content", "said"), ENCODINGS.values(), ids=ENCODINGS.keys())
async def test_encoding_is_found_and_named(files: FileConversation, content: bytes, said: str):
    files.here.write("a.txt", content)
    text = text_of(await files.call("read_file", "a.txt"))
    assert f"(1 line, {said})" in text
    assert text.endswith("1: größe")


async def test_binary_file_is_described(files: FileConversation):
    files.here.write("a.bin", b"\x1f\x8b\x08" + bytes(1_997))
    result = await files.call("read_file", "a.bin")
    assert text_of(result) == "a.bin is a gzip file of 2,000 bytes; it is not shown."


async def test_picture_is_shown_as_one(files: FileConversation):
    files.here.write("plot.png", png(4, 3))
    result = await files.call("read_file", "plot.png")
    [_, picture] = result.content
    assert isinstance(picture, ImagePart)
    assert base64.b64decode(picture.data) == png(4, 3)
    assert "4 × 3 pixels" in text_of(result)


async def test_damaged_picture_is_described(files: FileConversation):
    files.here.write("plot.png", b"\x89PN\0" + bytes(50))
    text = text_of(await files.call("read_file", "plot.png"))
    assert "is not shown: it is not a PNG" in text


async def test_document_is_converted(files: FileConversation):
    files.here.write("report.docx", word())
    text = text_of(await files.call("read_file", "report.docx"))
    assert text.startswith('Document "report.docx"')
    assert "The model was trained on 891 passengers." in text


async def test_long_table_is_previewed_and_short_one_shown_as_text(files: FileConversation):
    rows = "".join(f"{number},city {number}\n" for number in range(300))
    files.here.write("long.csv", f"id,city\n{rows}")
    files.here.write("short.csv", "id,city\n1,Rome\n")
    long = text_of(await files.call("read_file", "long.csv"))
    assert '"long.csv" (301 rows with the heading × 2 columns, separated by ,; 301 lines)' in long
    assert "id | city\n0 | city 0\n" in long
    assert "city 31" not in long
    assert files.seen[("long.csv", None)].startswith("part:")
    assert "2: 1,Rome" in text_of(await files.call("read_file", "short.csv"))
    lines = text_of(await files.call("read_file", "long.csv", start_line=300, end_line=300))
    assert "300: 298,city 298" in lines


async def test_notebook_is_shown_as_its_cells(files: FileConversation):
    files.here.write("n.ipynb", notebook("a = 1", "b = 2"))
    result = await files.call("read_file", "n.ipynb")
    assert result.envelope.kind == "cells"
    assert "a = 1" in text_of(result)
    assert {cell for _, cell in files.seen} == {"cell-1", "cell-2"}


async def test_notebook_that_is_none_is_shown_as_text(files: FileConversation):
    files.here.write("n.ipynb", "{ not json")
    assert "1: { not json" in text_of(await files.call("read_file", "n.ipynb"))


@pytest.mark.parametrize("path", [".", "", "/", "src"])
async def test_folder_is_listed_with_paths_to_use(files: FileConversation, path: str):
    files.here.write("src/a.py", "1")
    files.here.write("src/deep/b.py", "2")
    files.here.write(".hidden", "3")
    if path == "/":
        path = str(files.here.root)
    result = await files.call("read_file", path)
    expected = ["src/a.py (1 bytes)", "src/deep/"] if path == "src" else ["src/"]
    assert text_of(result).split("\n")[1:] == expected
    assert result.envelope.meta.total == len(expected)


async def test_missing_file_names_those_that_may_be_meant(files: FileConversation):
    files.here.write("src/analysis.py", "1")
    with pytest.raises(NotFound) as error:
        await files.call("read_file", "src/analyses.py")
    assert error.value.info.hint == "Did you mean src/analysis.py?"


async def test_large_log_shows_its_first_and_last_lines(
    files: FileConversation, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(disk_texts, "SIZE_LIMIT", 3_000)
    monkeypatch.setattr(read, "LARGE_HEAD", 1_000)
    lines = "".join(f"line {number:07}\n" for number in range(300))
    files.here.write("big.log", lines)
    first = text_of(await files.call("read_file", "big.log", end_line=2))
    assert "too large to be read or edited as text" in first
    assert "1: line 0000000\n2: line 0000001\n" in first
    last = text_of(await files.call("read_file", "big.log", tail_lines=2))
    assert "line 0000298\n" in last
    assert "line 0000299\n" in last
    with pytest.raises(NotFound, match="first 76 lines"):
        await files.call("read_file", "big.log", start_line=500)


@pytest.mark.parametrize(
    "arguments",
    [
        {"tail_lines": 3, "start_line": 1},
        {"start_line": 5, "end_line": 4},
        {"start_line": 0},
        {"max_chars": 1},
    ],
)
def test_ranges_that_make_no_sense_are_refused(arguments: dict[str, int]):
    with pytest.raises(ValueError, match=r"line|greater"):
        ReadFileArguments.model_validate({"path": "a", **arguments})


async def test_pipe_is_refused_and_not_waited_for(files: FileConversation):
    os.mkfifo(files.here.root / "pipe")
    with pytest.raises(InvalidRequest):
        await files.call("read_file", "pipe")


async def test_subject_names_the_file_by_its_one_name(files: FileConversation):
    files.here.write("src/a.py", "1")
    subject = await files.subject("read_file", "src/../src/a.py")
    assert (subject.title, subject.target_label, subject.target.path) == (
        "Read file",
        "a.py",
        "src/a.py",
    )
    with pytest.raises(ShouldersError):
        await files.subject("read_file", "../outside")


def test_lines_are_cut_where_a_result_is_full():
    text = "".join(f"{'x' * 1_000}\n" for _ in range(100))
    shown = numbered_lines(text, 10)
    assert (shown.first, shown.last) == (10, 58)
    ending = last_lines(text, 1_000)
    assert (ending.first, ending.last, ending.total) == (52, 100, 100)
    assert last_lines("", 5).text == ""
    assert last_lines("x" * 100_000, 5).cut
