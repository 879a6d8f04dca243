"""Adds comments to a document: to its comments part, or to a new one. Pure.

ECMA-376 part 1, 11.3.2 (the part), 17.13.4 (comments).
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.files.word.editing.markup import Author, Ids, Markup
from jupyter_ai_shoulders.files.word.editing.splices import Splice, spliced
from jupyter_ai_shoulders.files.word.parsing.package import WordPackage, relationships_name
from jupyter_ai_shoulders.files.word.parsing.xml_tree import Element, parse_xml

CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.comments+xml"
_TYPES = "[Content_Types].xml"
_TRANSITIONAL = "http://schemas.openxmlformats.org"
_STRICT = "http://purl.oclc.org/ooxml"


@dataclass(frozen=True, slots=True)
class NewComment:
    """A comment to add."""

    id: int
    text: str


def comments_added(
    package: WordPackage, comments: Sequence[NewComment], author: Author, ids: Ids
) -> dict[str, bytes]:
    """Return the parts that change, with the comments in them. Raises ``InvalidRequest``."""
    parts = package.related(package.main, "comments")
    if parts:
        content, root = package.read(parts[0]), package.tree(parts[0])
        return {_stored(package, parts[0]): _appended(content, root, comments, author, ids)}
    name = posixpath.join(posixpath.dirname(package.main), "comments.xml")
    if package.has(name):
        raise InvalidRequest(
            f"its part {name} belongs to nothing, so no comment can be added",
            hint="Ask the user to save it again with Word.",
        )
    uri = _namespace(package)
    empty = (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
        f"<w:comments xmlns:w={quoteattr(uri)}></w:comments>"
    ).encode()
    written = _appended(empty, parse_xml(empty, name), comments, author, ids)
    return {name: written, **_registered(package, name)}


def _appended(
    content: bytes, root: Element, comments: Sequence[NewComment], author: Author, ids: Ids
) -> bytes:
    markup = Markup(content, root, author, ids)
    made = b"".join(_comment(markup, each) for each in comments)
    if root.is_empty_tag:
        start = content[root.start : root.end]
        name = start[1:].split()[0].rstrip(b"/>")
        filled = start[:-2].rstrip() + b">" + made + b"</" + name + b">"
        return spliced(content, [Splice(root.start, root.end, filled)])
    return spliced(content, [Splice(root.inner_end, root.inner_end, made)])


def _comment(markup: Markup, comment: NewComment) -> bytes:
    lines = comment.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    mark = markup.element("r", inner=markup.element("annotationRef"))
    paragraphs = [
        markup.element("p", inner=(mark if number == 0 else b"") + markup.run(line, b""))
        for number, line in enumerate(lines)
    ]
    attributes = (
        markup.attribute("id", comment.id)
        + markup.attribute("author", markup.author.name)
        + markup.attribute("date", markup.author.date)
        + markup.attribute("initials", markup.author.name[:2])
    )
    return markup.element("comment", attributes, b"".join(paragraphs))


def _registered(package: WordPackage, name: str) -> dict[str, bytes]:
    """Return the content types and the relationships with a new comments part."""
    types = package.tree(_TYPES)
    override = f"<{_named(types, 'Override')} PartName={quoteattr('/' + name)} "
    override += f"ContentType={quoteattr(CONTENT_TYPE)}/>"
    changed = {_stored(package, _TYPES): _inner_added(package, _TYPES, override)}
    relations = relationships_name(package.main)
    base = _STRICT if _namespace(package).startswith(_STRICT) else f"{_TRANSITIONAL}"
    kind = f"{base}/officeDocument{'' if base == _STRICT else '/2006'}/relationships/comments"
    if not package.has(relations):
        raise InvalidRequest("its relationships are missing")
    used = {each.id for each in package.relationships(package.main)}
    new = next(f"rIdAI{number}" for number in range(1, 10_000) if f"rIdAI{number}" not in used)
    added = f"<{_named(package.tree(relations), 'Relationship')} Id={quoteattr(new)} "
    added += f"Type={quoteattr(kind)} Target={quoteattr(posixpath.basename(name))}/>"
    changed[_stored(package, relations)] = _inner_added(package, relations, added)
    return changed


def _inner_added(package: WordPackage, part: str, text: str) -> bytes:
    content, root = package.read(part), package.tree(part)
    if root.is_empty_tag:
        raise InvalidRequest(f"its part {part} is empty")
    return spliced(content, [Splice(root.inner_end, root.inner_end, text.encode())])


def _named(root: Element, name: str) -> str:
    return f"{root.prefix}:{name}" if root.prefix else name


def _namespace(package: WordPackage) -> str:
    """Return the namespace of the document's elements."""
    content = package.read(package.main)
    root = package.tree(package.main)
    strict = f"{_STRICT}/wordprocessingml/main"
    if strict.encode() in content[root.start : root.inner_start]:
        return strict
    return f"{_TRANSITIONAL}/wordprocessingml/2006/main"


def _stored(package: WordPackage, name: str) -> str:
    """Return a part's name as the archive writes it."""
    return next(each for each in package.names() if each.lower() == name.lower())
