"""Reads Open Library's books: https://openlibrary.org/dev/docs/api/books (``jscmd=data``)."""

from __future__ import annotations

import re

from jupyter_ai_shoulders.references.json_reading import json_object, mapping, mappings, text
from jupyter_ai_shoulders.references.names import name_from_text
from jupyter_ai_shoulders.references.registers.work import RegisterWork, clean_text

NAME = "Open Library"
_YEAR = re.compile(r"\b\d{4}\b")


def work_of_answer(content: bytes, isbn: str) -> RegisterWork | None:
    """Return the book of an ISBN; None if the answer has none."""
    book = mapping(json_object(content).get(f"ISBN:{isbn}"))
    title = clean_text(text(book, "title"))
    if not title:
        return None
    subtitle = clean_text(text(book, "subtitle"))
    names = (clean_text(text(author, "name")) for author in mappings(book.get("authors")))
    year = _YEAR.search(text(book, "publish_date"))
    publishers, places = mappings(book.get("publishers")), mappings(book.get("publish_places"))
    fields = {
        "publisher": clean_text(text(publishers[0], "name")) if publishers else "",
        "address": clean_text(text(places[0], "name")) if places else "",
        "isbn": isbn,
    }
    return RegisterWork(
        source=NAME,
        type="book",
        title=f"{title}: {subtitle}" if subtitle else title,
        authors=tuple(name_from_text(name) for name in names if name),
        year=year[0] if year else "",
        fields={name: value for name, value in fields.items() if value},
    )
