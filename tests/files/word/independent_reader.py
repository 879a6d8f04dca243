"""An evaluator of tracked changes of its own, on lxml, to check what the editor wrote.

It shares nothing with the package: it accepts or rejects all changes in the XML, and then reads the
text of the paragraphs.
"""

from __future__ import annotations

import importlib
import io
import itertools
import zipfile
from collections import Counter
from typing import Any, Literal

etree: Any = importlib.import_module("lxml.etree")
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
Way = Literal["accept", "reject"]
_GONE = {"accept": ("del", "moveFrom"), "reject": ("ins", "moveTo")}
_KEPT = {"accept": ("ins", "moveTo"), "reject": ("del", "moveFrom")}
_DRAWN = {f"{MC}AlternateContent", f"{W}pict", f"{W}drawing", f"{W}object"}
_MARKS = {"tab": "\t", "cr": "\n", "noBreakHyphen": "\u2011", "softHyphen": "\u00ad", "ptab": "\t"}


def members(content: bytes) -> dict[str, bytes]:
    """Return the parts of a document by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def settled_lines(content: bytes, way: Way, part: str = "word/document.xml") -> list[str]:
    """Return the texts of the paragraphs with all changes accepted or rejected."""
    root = etree.fromstring(members(content)[part])
    for row in list(root.iter(f"{W}tr")):
        if row.find(f"{W}trPr/{W}{_GONE[way][0]}") is not None:
            row.getparent().remove(row)
    for name in _GONE[way]:
        for element in list(root.iter(f"{W}{name}")):
            if element.getparent().tag != f"{W}rPr" and element.getparent() is not None:
                element.getparent().remove(element)
    lines: list[str] = []
    state: list[bool] = []
    for paragraph in root.iter(f"{W}p"):
        if any(above.tag == f"{W}txbxContent" for above in paragraph.iterancestors()):
            continue
        text = _text(paragraph, state)
        if _joins_the_one_before(paragraph, way):
            lines[-1] += text
        else:
            lines.append(text)
    return lines


def _joins_the_one_before(paragraph: Any, way: Way) -> bool:
    before = paragraph.getprevious()
    while before is not None and before.tag != f"{W}p":
        if before.tag in {f"{W}tbl", f"{W}sdt"}:
            return False
        before = before.getprevious()
    if before is None:
        return False
    mark = before.find(f"{W}pPr/{W}rPr")
    return mark is not None and any(mark.find(f"{W}{n}") is not None for n in _GONE[way])


def _text(paragraph: Any, state: list[bool]) -> str:
    """Return the text; ``state`` has for each open field whether its code is being read."""
    parts: list[str] = []
    for element in paragraph.iter():
        if not isinstance(element.tag, str) or not element.tag.startswith(W):
            continue
        inner = itertools.takewhile(lambda each: each is not paragraph, element.iterancestors())
        if any(each.tag in _DRAWN for each in inner):
            continue
        if element.tag == f"{W}fldChar":
            _follow_field(element.get(f"{W}fldCharType"), state)
        if not any(state) and element.getparent().tag == f"{W}r":
            parts.append(_characters(element))
    return "".join(parts)


def _follow_field(kind: str, state: list[bool]) -> None:
    if kind == "begin":
        state.append(True)
    elif state and kind == "separate":
        state[-1] = False
    elif state:
        state.pop()


def _characters(element: Any) -> str:
    name = element.tag.removeprefix(W)
    if name in {"t", "delText"}:
        text = element.text or ""
        kept = element.get("{http://www.w3.org/XML/1998/namespace}space") == "preserve"
        return text if kept else text.strip(" ")
    if name == "br" and element.get(f"{W}type", "textWrapping") == "textWrapping":
        return "\n"
    return chr(int(element.get(f"{W}char"), 16)) if name == "sym" else _MARKS.get(name, "")


def check_structure(content: bytes) -> None:
    """Assert that all XML is well-formed and ids of annotations are unique."""
    names = members(content)
    ids: Counter[str] = Counter()
    comments: list[str] = []
    anchors: Counter[tuple[str, str]] = Counter()
    for name, part in names.items():
        if not name.endswith((".xml", ".rels")):
            continue
        root = etree.fromstring(part)
        for element in root.iter():
            if not isinstance(element.tag, str):
                continue
            short = element.tag.removeprefix(W)
            number = element.get(f"{W}id")
            if short in {"ins", "del", "moveFrom", "moveTo", "rPrChange", "pPrChange"} and number:
                ids[number] += 1
            if short == "comment":
                comments.append(number)
            if short in {"commentRangeStart", "commentRangeEnd", "commentReference"}:
                anchors[short, number] += 1
    assert all(count == 1 for count in ids.values()), ids
    assert len(set(comments)) == len(comments)
    assert all(count == 1 for count in anchors.values()), anchors
    assert {number for _, number in anchors} <= set(comments)
    types = names["[Content_Types].xml"]
    assert not comments or b"comments+xml" in types
