"""One field changes and every other byte stays, in generated files of many dialects."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound, TooLarge
from jupyter_ai_shoulders.files.encoding import decode_text
from jupyter_ai_shoulders.references.bibtex.bibliography import (
    CHARACTER_LIMIT,
    BibEntry,
    parse_bibliography,
)
from jupyter_ai_shoulders.references.bibtex.editing import append_entry, delete_entry, edit_entry
from jupyter_ai_shoulders.references.latex_text import decoded
from tests.references.bibtex.dialects import LAYOUTS, generated_files


def edited_bytes(content: bytes, key: str, fields: dict[str, str | None]) -> bytes:
    """Return a file's bytes after an edit, as the project's documents write it."""
    before = decode_text(content, "references.bib")
    return before.with_text(edit_entry(parse_bibliography(before.text), key, fields)).encoded()


def only_change(before: bytes, after: bytes) -> tuple[bytes, bytes]:
    """Return the old and new bytes between the common beginning and the common end."""
    start = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), None)
    if start is None:
        start = min(len(before), len(after))
    end = 0
    limit = min(len(before), len(after)) - start
    while end < limit and before[-1 - end] == after[-1 - end]:
        end += 1
    return before[start : len(before) - end], after[start : len(after) - end]


def without_commas(content: bytes) -> bytes:
    """Return bytes without the comma and the line end that an added first field may need."""
    return re.sub(rb"[,\r\n\0]", b"", content)


def value_bytes(content: bytes, entry: BibEntry, name: str) -> int:
    """Return the length in bytes of a field with the space before it, at most."""
    found = next(field for field in entry.spans.fields if field.name.lower() == name)
    encoding = decode_text(content, "x.bib").encoding
    return len(" " * (found.value_end - found.start + 2)) * (2 if "16" in encoding else 4)


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_one_field_changes_and_all_other_bytes_stay(layout: str) -> None:
    for file in generated_files(layout):
        text = decode_text(file.content, "references.bib").text
        parsed = parse_bibliography(text)
        assert [entry.key for entry in parsed.entries] == list(file.keys), file.name
        assert len(parsed.broken) == file.broken

        entry = next(entry for entry in reversed(parsed.entries) if not entry.is_duplicate)
        name = entry.spans.fields[len(file.content) % len(entry.spans.fields)].name.lower()

        changed = edited_bytes(file.content, entry.key, {name: "Changed"})
        removed_bytes, new_bytes = only_change(file.content, changed)
        after = parse_bibliography(decode_text(changed, "x").text)
        now = after.find(entry.key)
        assert now is not None
        assert now.values == {**entry.values, name: "Changed"}
        assert len(removed_bytes) <= value_bytes(file.content, entry, name)
        assert len(new_bytes) <= 4 * len('"Changed"')
        assert len(after.broken) == file.broken

        assert edited_bytes(file.content, entry.key, {name: entry.values[name]}) == file.content


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_a_field_is_added_and_removed_again(layout: str) -> None:
    for file in generated_files(layout):
        text = decode_text(file.content, "x").text
        entry = parse_bibliography(text).entries[-1]

        added = edited_bytes(file.content, "last", {"annotation": "New {value}"})
        now = parse_bibliography(decode_text(added, "x").text).entries[-1]
        assert now.values == {**entry.values, "annotation": "New {value}"}
        assert only_change(file.content, added)[0] == b""

        removed = edited_bytes(added, "last", {"annotation": None})
        again = parse_bibliography(decode_text(removed, "x").text).entries[-1]
        assert again.values == entry.values
        assert without_commas(removed) == without_commas(file.content), file.name


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_an_entry_is_appended_and_deleted_again(layout: str) -> None:
    for file in generated_files(layout):
        text = decode_text(file.content, "x").text
        added = append_entry(text, "@misc{appended,\n  title = {New},\n}")
        assert added.startswith(text)
        parsed = parse_bibliography(added)
        assert parsed.entries[-1].key == "appended"
        assert delete_entry(parsed, "appended").rstrip("\n") == text.rstrip("\n")


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_several_fields_change_at_once(layout: str) -> None:
    for file in generated_files(layout):
        text = decode_text(file.content, "x").text
        parsed = parse_bibliography(text)
        entry = parsed.entries[-1]
        last = entry.spans.fields[-1].name.lower()
        wanted: dict[str, str | None] = {last: None, "annotation": "A", "extra": "B"}
        for field in entry.spans.fields[:-1]:
            wanted[field.name.lower()] = "Changed"
        now = parse_bibliography(edit_entry(parsed, "last", wanted)).entries[-1]
        assert now.values == {name: value for name, value in wanted.items() if value is not None}


KEPT = {
    "a name of a string": ("@string{j = {Nature}}\n@a{k, journal = j}", "journal", "Nature"),
    "a concatenation": ('@string{j = {Nat}}\n@a{k, x = j # "ure" }', "x", "Nature"),
    "a month": ("@a{k, month = jan}", "month", "January"),
    "an accent": (r"@a{k, author = {G{\"o}del}}", "author", "Gödel"),
    "braces": ("@a{k, title = {The {DNA}}}", "title", "The DNA"),
    "lines": ("@a{k, title = {The\n   DNA}}", "title", "The DNA"),
}


@pytest.mark.parametrize(("text", "name", "value"), KEPT.values(), ids=KEPT)
def test_a_value_that_is_the_same_already_stays_as_it_is_written(
    text: str, name: str, value: str
) -> None:
    assert edit_entry(parse_bibliography(text), "k", {name: value}) == text


CHANGED = {
    "a name of a string": (
        "@a{k, journal = j}",
        "journal",
        "Science",
        "@a{k, journal = {Science}}",
    ),
    "a concatenation": ('@a{k, x = j # " b", y = 1}', "x", "c", "@a{k, x = {c}, y = 1}"),
    "a number": ("@a{k, year = 1999}", "year", "2000", "@a{k, year = 2000}"),
    "quotes": ('@a{k, x = "a"}', "x", "b", '@a{k, x = "b"}'),
    "quotes that do not fit": ('@a{k, x = "a"}', "x", 'b "c"', '@a{k, x = {b "c"}}'),
    "a month": ("@a{k, month = {January}}", "month", "feb", "@a{k, month = feb}"),
    "lines": ("@a{k, x = {a}}", "x", "b\n@article{c\n}", "@a{k, x = {b @article{c }}}"),
    "no field": ("@a{k}", "x", "b", "@a{k,\n  x = {b}\n}"),
    "a comma only": ("@a{k,\n}", "x", "b", "@a{k,\n  x = {b}\n}"),
    "aligned": (
        "@a{k,\n  title   = {A},\n}",
        "doi",
        "1",
        "@a{k,\n  title   = {A},\n  doi     = {1},\n}",
    ),
}


@pytest.mark.parametrize(("text", "name", "value", "expected"), CHANGED.values(), ids=CHANGED)
def test_a_value_is_written(text: str, name: str, value: str, expected: str) -> None:
    assert edit_entry(parse_bibliography(text), "k", {name: value}) == expected


COMMENTED = """@online{k,
  % before all
  title = {A % no comment},
  % between
  date = {2024}, % the day is not known
  url = {https://example.org/%20}
  % after all
}
"""


def test_comments_between_fields_as_biber_takes_them_stay() -> None:
    file = parse_bibliography(COMMENTED)
    assert file.broken == ()
    assert file.entries[0].values["url"] == "https://example.org/%20"
    changed = edit_entry(file, "k", {"date": None, "title": "B", "note": "C"})
    assert changed == COMMENTED.replace("A % no comment", "B").replace(
        "\n  date = {2024},", ""
    ).replace("%20}", "%20},\n  note = {C}")


REFUSED = {
    "no entry": ("@a{k, x = 1}", {"x": "2"}, "other", NotFound),
    "no field": ("@a{k, x = 1}", {"y": None}, "k", NotFound),
    "a broken entry": ("@a{k, x = 1 y = 2}", {"x": "2"}, "k", Conflict),
    "an open brace": ("@a{k, x = 1}", {"x": "{a"}, "k", InvalidRequest),
    "a brace too many": ("@a{k, x = 1}", {"x": "a}"}, "k", InvalidRequest),
    "an escaped brace": ("@a{k, x = 1}", {"x": r"a\}"}, "k", InvalidRequest),
    "braces the wrong way": ("@a{k, x = 1}", {"x": "}{"}, "k", InvalidRequest),
    "a backslash at the end": ("@a{k, x = 1}", {"x": "a\\"}, "k", InvalidRequest),
    "a name that is none": ("@a{k, x = 1}", {"x = 1, y": "a"}, "k", InvalidRequest),
}


@pytest.mark.parametrize(("text", "fields", "key", "error"), REFUSED.values(), ids=REFUSED)
def test_what_would_damage_the_file_is_refused(
    text: str, fields: dict[str, str | None], key: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        edit_entry(parse_bibliography(text), key, fields)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("@a{ok, x = 1}\n\n@a{k,\n x = 1\n y = 2\n}", 5),
        ("@a{k,\n x = {1\n\n@a{ok, x = 1}", 1),
        ("\n\n@a{, x = 1}", 3),
    ],
    ids=["missing comma", "unterminated", "no key"],
)
def test_broken_entries_are_reported_with_their_line(text: str, line: int) -> None:
    assert [place.line for place in parse_bibliography(text).broken] == [line]


@given(st.text(alphabet='@{}()",=#\\ \n%abk1', max_size=120), st.text(max_size=20))
def test_any_text_is_parsed_and_an_edit_changes_one_place_only(text: str, value: str) -> None:
    text = text.replace("\r", "\n")
    file = parse_bibliography(text)
    for entry in file.entries:
        assert text[entry.start : entry.end].startswith("@")
        try:
            after = edit_entry(file, entry.key, {"note": value})
        except (InvalidRequest, Conflict):
            continue
        changed = file.find(entry.key)
        assert changed is not None
        assert after.startswith(text[: changed.start])
        assert after.endswith(text[changed.end :])


HOSTILE = {
    "open braces": "@a{k, x = " + "{" * 100_000,
    "closed braces": "@a{k, x = " + "{" * 100_000 + "}" * 100_000 + "}",
    "many broken entries": "@a{k\n" * 50_000,
    "at signs": "@" * 200_000,
    "comments": "@a{k, x = {a}" + "\n%a" * 100_000 + "\n}",
    "percent signs": "@a{k, x = {" + "\n%" * 100_000 + "}}",
    "spaces": "@a{k, x = {a}" + " \n" * 100_000 + "}",
    "quotes": "@a{k, x = " + '"' * 100_001 + "}",
    "strings that name each other": "".join(
        f"@string{{s{n + 1} = s{n} # s{n}}}\n" for n in range(60)
    )
    + "@a{k, x = s60}",
    "one long value": "@a{k, x = {" + "word " * 400_000 + "}}",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_take_little_time(text: str) -> None:
    started = time.process_time()
    parsed = parse_bibliography(text)
    assert len(parsed.broken) <= 1_000
    assert time.process_time() - started < 5


def test_a_file_of_five_thousand_entries_is_parsed_in_seconds() -> None:
    text = "".join(
        f"@article{{key{n},\n  author = {{Last, First and Other, N}},\n  title = {{Title {n}}},\n"
        f"  journal = {{Journal}},\n  year = {{{1900 + n % 120}}},\n  doi = {{10.1/{n}}}\n}}\n\n"
        for n in range(5_000)
    )
    started = time.process_time()
    assert len(parse_bibliography(text).entries) == 5_000
    assert time.process_time() - started < 5


def test_a_file_that_is_too_long_is_refused() -> None:
    with pytest.raises(TooLarge):
        parse_bibliography("x" * (CHARACTER_LIMIT + 1))


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"G{\"o}del", "Gödel"),
        (r"\'{E}mile", "Émile"),
        (r"\v{S}koda and \c{c}a", "Škoda and ça"),
        (r"Erd{\H o}s", "Erdős"),
        (r"na\"{\i}ve", "naïve"),
        (r"Stra{\ss}e", "Straße"),
        (r"\O{}stergaard \& Co", "Østergaard & Co"),
        (r"pages 1--3 --- so", "pages 1–3 — so"),
        (r"``quoted''~text", "“quoted” text"),
        (r"\emph{Homo sapiens} {DNA}", "Homo sapiens DNA"),
        (r"$\alpha$-helix", "α-helix"),
    ],
)
def test_latex_is_shown_as_text(latex: str, text: str) -> None:
    assert decoded(latex) == text
