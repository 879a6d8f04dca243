"""Names of styles and levels of lists, from ``styles.xml`` and ``numbering.xml``. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.files.word.parsing.package import WordPackage
from jupyter_ai_shoulders.files.word.parsing.xml_tree import Element

_CHAIN = 20
"""Styles that may be based on one another."""


@dataclass(frozen=True, slots=True)
class ListLevel:
    """The list a paragraph is in."""

    list_id: str
    level: int
    """From 1."""
    format: str
    """``bullet``, ``decimal`` and others (ST_NumberFormat)."""


class Styles:
    """The styles of one document; a missing or damaged part has none."""

    def __init__(self, package: WordPackage) -> None:
        self._styles = {
            style.get("w:styleId"): style
            for style in _children(package, "styles", "w:style")
            if style.get("w:type", "paragraph") == "paragraph"
        }
        self._default = next(
            (key for key, style in self._styles.items() if style.get("w:default") in {"1", "true"}),
            "",
        )
        numbering = _children(package, "numbering", None)
        self._abstract = {
            each.get("w:abstractNumId"): each for each in numbering if each.name == "w:abstractNum"
        }
        self._lists = {
            each.get("w:numId"): _value(each, "w:abstractNumId")
            for each in numbering
            if each.name == "w:num"
        }

    def name(self, style_id: str) -> str:
        """Return a style's name as Word shows it in English: ``Heading 1``, ``Normal``."""
        style = self._styles.get(style_id or self._default)
        name = (style_id or "Normal") if style is None else _value(style, "w:name") or style_id
        return name[:1].upper() + name[1:]

    def heading_level(self, style_id: str) -> int | None:
        """Return 1 to 9 for a heading's style; 0 for a title."""
        name = self.name(style_id).lower()
        if name == "title":
            return 0
        word, _, number = name.partition(" ")
        if word == "heading" and number in "123456789" and number:
            return int(number)
        return None

    def list_level(self, paragraph: Element, style_id: str) -> ListLevel | None:
        """Return the list of a ``w:p``: its own, or that of its style."""
        number = paragraph.find("w:pPr", "w:numPr")
        style = style_id
        for _ in range(_CHAIN):
            if number is not None or style not in self._styles:
                break
            number = self._styles[style].find("w:pPr", "w:numPr")
            style = _value(self._styles[style], "w:basedOn")
        if number is None:
            return None
        list_id = _value(number, "w:numId")
        if list_id in {"", "0"}:
            return None
        level = _whole(_value(number, "w:ilvl"))
        return ListLevel(list_id, level + 1, self._format(list_id, level))

    def _format(self, list_id: str, level: int) -> str:
        abstract = self._abstract.get(self._lists.get(list_id, ""))
        if abstract is not None:
            for each in abstract.children:
                if each.name == "w:lvl" and _whole(each.get("w:ilvl")) == level:
                    return _value(each, "w:numFmt") or "decimal"
        return "bullet"


def _children(package: WordPackage, kind: str, name: str | None) -> list[Element]:
    try:
        parts = package.related(package.main, kind)
        root = package.tree(parts[0]) if parts else None
    except ShouldersError:
        return []
    children = [] if root is None else root.children
    return [child for child in children if name in {None, child.name}]


def _value(element: Element, name: str) -> str:
    child = element.child(name)
    return "" if child is None else child.get("w:val")


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 3 else 0
