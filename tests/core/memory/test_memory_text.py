"""Memory files in every state a person may leave them in: nothing of theirs is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.core.memory.memory_text import PREFERENCES, MemoryText, Statement

NEW = Statement("deadbeef", "New.", "2026-11-29", "ses_9")
LINE = b"- New. <!-- deadbeef, 2026-11-29, ses_9 -->"
FILES = {
    "empty": b"",
    "only prose": b"# Mine\n\nSome words.\n",
    "by hand": b"- one\n* two\n+ three\n",
    "no line break at the end": b"Words.\n- one",
    "windows": b"# Mine\r\n\r\n- one\r\n- two <!-- 12345678, 2026-01-02, ses_1 -->\r\n",
    "mark of the byte order": b"\xef\xbb\xbf- one\n",
    "wrapped": b"- one\n  and more\n\t- nested\nafter\n",
    "not UTF-8": b"- caf\xe9\n- two\n",
    "broken comment": b"- one <!-- 12345678, soon\n- two <!-- -->\n<!-- a\n- not\n-->\n- b\n",
    "code": b"```\n- code\n```\n- one\n",
    "same id twice": b"- one <!-- 12345678 -->\n- two <!-- 12345678 -->\n",
    "sections": b"- one\n\n## Preferences\n\n- Style: short\n\n## More\n\nwords\n",
    "odd items": b"-nothing\n- \n-\n--- \n1. number\n- one\n",
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_changes_keep_every_other_byte(content: bytes) -> None:
    text = MemoryText(content)

    added = text.added(NEW)

    assert LINE in added.content
    left = added.removed("deadbeef").content
    assert left in {content, content + b"\n", content + b"\r\n"}
    for statement in text.statements:
        source = (text.source(statement.id) or "").encode("utf-8", "surrogateescape")
        without = text.removed(statement.id).content
        assert without.removeprefix(b"\xef\xbb\xbf") == content.replace(source, b"", 1)
        replaced = text.replaced(statement.id, NEW).content
        assert replaced.replace(LINE, b"").split() == without.split()
        assert len({each.id for each in text.statements}) == len(text.statements)


@given(st.binary(max_size=200).filter(lambda content: b"\0" not in content))
def test_any_bytes_are_kept(content: bytes) -> None:
    added = MemoryText(content).added(NEW)

    at = added.content.find(LINE)
    rest = added.content.replace(added.content[at : at + len(LINE)], b"", 1)
    assert [b for b in rest if b not in b"\r\n"] == [b for b in content if b not in b"\r\n"]


def test_statements_are_read_with_what_is_known() -> None:
    found = MemoryText(FILES["windows"]).statements

    assert [(each.text, each.date, each.session) for each in found] == [
        ("one", "", ""),
        ("two", "2026-01-02", "ses_1"),
    ]
    assert [each.text for each in MemoryText(FILES["code"]).statements] == ["one"]
    assert [each.text for each in MemoryText(FILES["wrapped"]).statements] == [
        "one and more - nested"
    ]
    assert [each.text for each in MemoryText(FILES["broken comment"]).statements] == [
        "one",
        "two",
        "b",
    ]


def test_a_line_by_hand_keeps_its_id_while_others_change() -> None:
    text = MemoryText(FILES["by hand"])
    first, second, _ = text.statements

    assert text.removed(first.id).statements[0].id == second.id


def test_preferences_stand_below_their_heading_and_other_statements_do_not() -> None:
    text = MemoryText(b"").added(Statement("11111111", "Style: short", section=PREFERENCES))
    text = text.added(NEW).added(Statement("22222222", "Language: German", section=PREFERENCES))

    assert [(each.text, each.section) for each in text.statements] == [
        ("New.", ""),
        ("Style: short", PREFERENCES),
        ("Language: German", PREFERENCES),
    ]


def test_a_file_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidRequest):
        MemoryText("- one\n".encode("utf-16"))


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "content",
    ["# a" + " " * 900_000 + "b\n", "# " + "# " * 400_000 + "b\n", "- " + "<!-- " * 200_000],
    ids=["spaces", "marks", "comments"],
)
def test_a_crafted_file_takes_no_time(content: str) -> None:
    text = MemoryText((content + "\n- Known.\n").encode())

    assert [each.text for each in text.statements] in ([], ["Known."])
