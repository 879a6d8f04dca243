"""Random edits over the corpus: accepting gives the wanted text, rejecting the original one."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.files.word.editing.changes import edited
from jupyter_ai_shoulders.files.word.editing.edits import ParagraphEdit
from jupyter_ai_shoulders.files.word.editing.markup import Author
from jupyter_ai_shoulders.files.word.parsing.document import WordDocument
from tests.files.word.corpus import LIBREOFFICE_SOURCES, python_docx_corpus, raw_corpus
from tests.files.word.independent_reader import check_structure, etree, members, settled_lines
from tests.files.word.libreoffice import Opened, convert, open_all
from tests.files.word.raw_documents import zipped

TRACKED = Author("AI", "2026-01-01T00:00:00Z", tracked=True)
PLAIN = Author("AI", "2026-01-01T00:00:00Z", tracked=False)
MAIN = "word/document.xml"
COMMENT_PARTS = {MAIN, "[Content_Types].xml", "word/_rels/document.xml.rels", "word/comments.xml"}


@dataclass
class Case:
    """A document and an edit of it."""

    before: bytes
    after: bytes
    wanted: list[str]
    changed: set[int] = field(default_factory=set[int])
    """Lines of the wanted text that the edit wrote, from 0."""
    commented: bool = False


def random_edit(text: str, dice: random.Random) -> str:
    """Return another text for a paragraph."""
    words = text.split(" ")
    at = dice.randrange(len(words))
    way = dice.randrange(7)
    if way == 0:
        words[at] = "changed"
    elif way == 1:
        words[at : at + 2] = []
    elif way == 2:
        words.insert(at, "added\tword")
    elif way == 3:
        return f"{text}\nA paragraph after it."
    elif way == 4:
        return f"A paragraph before it.\n{text}"
    elif way == 5:
        return ""
    else:
        words[at] = f"{words[at][:1]}\nsplit {words[at][1:]}"
    new = " ".join(words)
    return new if new != text else f"{text} more"


def make_case(content: bytes, seed: str, author: Author = TRACKED) -> Case | None:
    """Edit up to three paragraphs of the body at random; None where none can be."""
    dice = random.Random(seed)
    lines = settled_lines(content, "accept")
    read = WordDocument(content)
    body = [each.text for each in read.paragraphs[: read.body_end]]
    assert body == lines
    texts = [number for number, line in enumerate(lines) if line.strip()]
    chosen = sorted(dice.sample(texts, min(len(texts), dice.randint(1, 3))))
    edits = {
        number: ParagraphEdit(
            number + 1, lines[number], random_edit(lines[number], dice), dice.choice([None, "Why?"])
        )
        for number in chosen
    }
    while edits:
        try:
            made = edited(read, [*_allowed(edits, author).values()], author)
        except InvalidRequest as error:
            refused = int(re.findall(r"paragraph (\d+)", str(error))[0])
            del edits[refused - 1]
            continue
        notes = " ".join(made.notes)
        wanted: list[str] = []
        changed: set[int] = set()
        for number, line in enumerate(lines):
            new = edits[number].new if number in edits else line
            if new == "" and line and f"paragraph {number + 1} was" not in notes:
                continue
            parts = _new_lines(line, new)
            if number in edits:
                changed |= set(range(len(wanted), len(wanted) + len(parts)))
            wanted += parts
        commented = any(each.comment for each in edits.values())
        return Case(content, made.content, wanted, changed, commented)
    return None


def _allowed(edits: Mapping[int, ParagraphEdit], author: Author) -> Mapping[int, ParagraphEdit]:
    """Leave out comments on paragraphs that are removed without tracking."""
    if author.tracked:
        return edits
    return {
        number: ParagraphEdit(each.paragraph, each.old, each.new) if each.new == "" else each
        for number, each in edits.items()
    }


def _new_lines(old: str, new: str) -> list[str]:
    """Return the paragraphs of a new text; line breaks that were there stay."""
    kept = old.count("\n")
    if not kept:
        return new.split("\n")
    return re.split(r"\n(?=A paragraph after)|(?<=before it\.)\n|\n(?=split )", new)


def check_case(case: Case, *, tracked: bool = True) -> None:
    """Check a case with the independent reader."""
    check_structure(case.after)
    assert settled_lines(case.after, "accept") == case.wanted
    if tracked:
        assert settled_lines(case.after, "reject") == settled_lines(case.before, "reject")
    read = WordDocument(case.after)
    assert [each.text for each in read.paragraphs[: read.body_end]] == case.wanted
    old, new = members(case.before), members(case.after)
    allowed = COMMENT_PARTS if case.commented else {MAIN}
    assert {name for name in new if old.get(name) != new[name]} <= allowed


def all_documents() -> dict[str, bytes]:
    return {**raw_corpus(), **python_docx_corpus()}


DOCUMENTS = all_documents()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_tracked_edits_accept_to_the_wanted_text_and_reject_to_the_original(name: str) -> None:
    for seed in range(4):
        case = make_case(DOCUMENTS[name], f"{name} {seed}")
        if case is not None:
            check_case(case)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_plain_edits_give_the_wanted_text(name: str) -> None:
    for seed in range(2):
        case = make_case(DOCUMENTS[name], f"plain {name} {seed}", PLAIN)
        if case is not None:
            check_case(case, tracked=False)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_second_edit_over_the_first_still_rejects_to_the_original(name: str) -> None:
    first = make_case(DOCUMENTS[name], f"first {name}")
    if first is None:
        return
    second = make_case(first.after, f"second {name}")
    if second is not None:
        check_case(second)
        assert settled_lines(second.after, "reject") == settled_lines(first.before, "reject")


def without_comments(content: bytes) -> bytes:
    """Return a document without the marks of comments, which LibreOffice cannot draw here."""
    parts = members(content)
    marks = rb"<w:commentRange(?:Start|End) [^>]*/>|<w:r><w:commentReference [^>]*/></w:r>"
    return zipped({**parts, MAIN: re.sub(marks, b"", parts[MAIN])})


def libreoffice_documents(folder: Path) -> dict[str, bytes]:
    """Return documents that LibreOffice writes from other formats."""
    sources: list[Path] = []
    for name, text in LIBREOFFICE_SOURCES.items():
        body = f"<html><meta charset='utf-8'><body>{text}</body></html>"
        sources.append(folder / name)
        sources[-1].write_text(body if name.endswith("html") else text, encoding="utf-8")
    convert(sources, "docx:MS Word 2007 XML", folder, folder / "profile")
    return {
        f"LibreOffice: {source.stem}": source.with_suffix(".docx").read_bytes()
        for source in sources
    }


def check_with_libreoffice(cases: Mapping[str, Case], folder: Path) -> tuple[int, int]:
    """Check cases with LibreOffice; return how many lines agreed with the wanted text of all."""
    opened = open_all(
        {
            **{f"before {name}": without_comments(case.before) for name, case in cases.items()},
            **{f"after {name}": without_comments(case.after) for name, case in cases.items()},
        },
        folder,
        folder / "profile",
    )
    problems: list[str] = []
    compared = total = 0
    for name, case in cases.items():
        found: dict[str, Opened] = {
            f"{which} {way}": opened[f"{which} {name}", way]
            for which in ("before", "after")
            for way in ("accept", "reject")
        }
        problems += [f"{name}: {key}: {each.error}" for key, each in found.items() if each.error]
        if found["after reject"].lines != found["before reject"].lines:
            problems.append(
                f"{name}: {found['before reject'].lines} != {found['after reject'].lines}"
            )
        for author in ("Ann", "Bob"):
            before = sum(each.startswith(author) for each in found["before accept"].changes)
            after = sum(each.startswith(author) for each in found["after accept"].changes)
            if after < before:
                problems.append(f"{name}: {before} changes of {author} became {after}")
        if list(found["before accept"].lines) != settled_lines(case.before, "accept"):
            continue  # LibreOffice breaks lines at page breaks, and computes fields again
        lines = [line.replace("\u2028", "\n") for line in found["after accept"].lines]
        total += len(case.wanted)
        if len(lines) != len(case.wanted):
            problems.append(f"{name}: {lines} != {case.wanted}")
            continue
        compared += sum(line == wanted for line, wanted in zip(lines, case.wanted, strict=True))
        problems += [
            f"{name}: {lines[number]!r} != {case.wanted[number]!r}"
            for number in sorted(case.changed)
            if lines[number] != case.wanted[number]
        ]
    assert not problems, "\n".join(problems)
    return compared, total


SAMPLE = ("plain", "link", "footnote", "deleted in inserted", "table", "arabic")


def test_libreoffice_accepts_and_rejects_a_sample(tmp_path: Path) -> None:
    cases = {name: make_case(DOCUMENTS[name], f"{name} 0") for name in SAMPLE}
    check_with_libreoffice({name: case for name, case in cases.items() if case}, tmp_path)


NOT_FOR_LIBREOFFICE = {"footnote at the end"}
"""LibreOffice 7.4 does not reject an inserted mark right after a footnote's."""


@pytest.mark.full
@pytest.mark.timeout(600)
def test_libreoffice_accepts_and_rejects_the_whole_corpus(tmp_path: Path) -> None:
    documents = {**DOCUMENTS, **libreoffice_documents(tmp_path)}
    assert len(documents) >= 60
    cases: dict[str, Case] = {}
    for name, content in documents.items():
        for seed in range(3):
            case = make_case(content, f"{name} {seed}")
            if case is not None and name not in NOT_FOR_LIBREOFFICE:
                check_case(case)
                cases[f"{name} {seed}"] = case
    compared, total = check_with_libreoffice(cases, tmp_path)
    assert compared > 0.8 * total, (compared, total)


def test_libreoffice_reads_the_comments(tmp_path: Path) -> None:
    document = WordDocument(DOCUMENTS["comment"])
    first, second, third = (each.text for each in document.paragraphs[:3])
    edits = [
        ParagraphEdit(1, first, f"{first} at last", "Why this?\nIn two lines."),
        ParagraphEdit(2, second, second, "Only <a> comment."),
        ParagraphEdit(3, third, third, "Über ß & ü"),
    ]
    (tmp_path / "a.docx").write_bytes(edited(document, edits, TRACKED).content)
    convert([tmp_path / "a.docx"], "fodt", tmp_path, tmp_path / "profile")
    root = etree.parse(tmp_path / "a.fodt").getroot()
    names = {
        f"{key}:{name}": f"{{{uri}}}{name}" for key, uri in root.nsmap.items() for name in TAGS
    }
    found = [
        (
            note.findtext(names["dc:creator"]),
            "\n".join("".join(line.itertext()) for line in note.iter(names["text:p"])),
        )
        for note in root.iter(names["office:annotation"])
    ]
    assert sorted(found) == [
        ("AI", "Only <a> comment."),
        ("AI", "Why this?\nIn two lines."),
        ("AI", "Über ß & ü"),
        ("Ann", "Really?"),
    ]
    ends = [each.get(names["office:name"]) for each in root.iter(names["office:annotation-end"])]
    assert len(set(ends)) == len(found)


TAGS = ("creator", "p", "annotation", "annotation-end", "name")
"""Names of ODF 1.3 with the comments."""
