"""Reads arXiv's feed: https://info.arxiv.org/help/api/user-manual.html#_details_of_atom_results."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from jupyter_ai_shoulders.references.names import name_from_text
from jupyter_ai_shoulders.references.registers.work import RegisterWork, clean_text

NAME = "arXiv"
_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_ID = re.compile(r"arxiv\.org/abs/(.+?)(?:v\d+)?$")


def work_of_answer(content: bytes) -> RegisterWork | None:
    """Return the first work of a feed; None for an empty feed, an error or no feed.

    A feed never declares entities, so that one that does is not parsed.
    """
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        return None
    try:
        feed = ET.fromstring(content)  # noqa: S314 - without entities, see above
    except ET.ParseError:
        return None
    entry = feed.find(f"{_ATOM}entry")
    found = None if entry is None else _ID.search(_text(entry, f"{_ATOM}id"))
    if entry is None or found is None:
        return None
    category = entry.find(f"{_ARXIV}primary_category")
    names = (_text(author, f"{_ATOM}name") for author in entry.findall(f"{_ATOM}author"))
    published = _text(entry, f"{_ATOM}published")
    fields = {
        "eprint": found[1],
        "archiveprefix": "arXiv",
        "primaryclass": "" if category is None else category.get("term", ""),
        "url": f"https://arxiv.org/abs/{found[1]}",
    }
    return RegisterWork(
        source=NAME,
        type="misc",
        title=_text(entry, f"{_ATOM}title"),
        authors=tuple(name_from_text(name) for name in names if name),
        year=published[:4],
        month=int(published[5:7]) if published[5:7].isdigit() else None,
        doi=_text(entry, f"{_ARXIV}doi"),
        fields={name: value for name, value in fields.items() if value},
    )


def _text(element: ET.Element, name: str) -> str:
    return clean_text(element.findtext(name) or "")
