"""Reads DataCite's DOIs: https://support.datacite.org/docs/api-get-doi (``data.attributes``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from jupyter_ai_shoulders.references.json_reading import json_object, mapping, mappings, text
from jupyter_ai_shoulders.references.names import PersonName, name_from_text
from jupyter_ai_shoulders.references.registers.work import RegisterWork, clean_text

NAME = "DataCite"
_TYPES = {
    "Dataset": "dataset",
    "Software": "software",
    "JournalArticle": "article",
    "ConferencePaper": "inproceedings",
    "ConferenceProceeding": "proceedings",
    "Book": "book",
    "BookChapter": "incollection",
    "Dissertation": "phdthesis",
    "Report": "techreport",
}
_PUBLISHERS = {"phdthesis": "school", "techreport": "institution", "misc": "howpublished"}


def work_of_answer(content: bytes) -> RegisterWork | None:
    """Return the work of an answer to ``/dois/{doi}``; None if it is none."""
    attributes = mapping(mapping(json_object(content).get("data")).get("attributes"))
    titles = [item for item in mappings(attributes.get("titles")) if not item.get("titleType")]
    doi = text(attributes, "doi")
    title = clean_text(text(titles[0], "title")) if titles else ""
    if not doi or not title:
        return None
    kind = _TYPES.get(text(attributes, "types", "resourceTypeGeneral"), "misc")
    return RegisterWork(
        source=NAME,
        type=kind,
        title=title,
        authors=tuple(
            name for item in mappings(attributes.get("creators")) if (name := _name(item))
        ),
        year=text(attributes, "publicationYear"),
        doi=doi,
        fields=_fields(attributes, kind),
    )


def _fields(attributes: Mapping[str, Any], kind: str) -> dict[str, str]:
    publisher = attributes.get("publisher")
    name = text(mapping(cast("object", publisher)), "name") or publisher
    container = clean_text(text(attributes, "container", "title"))
    fields = {
        _PUBLISHERS.get(kind, "publisher"): clean_text(name),
        "version": text(attributes, "version"),
        "url": text(attributes, "url"),
        "volume": text(attributes, "container", "volume"),
        "number": text(attributes, "container", "issue"),
    }
    if container and kind in {"article", "inproceedings", "incollection"}:
        fields["journal" if kind == "article" else "booktitle"] = container
    return {name: value for name, value in fields.items() if value}


def _name(creator: Mapping[str, Any]) -> PersonName | None:
    family = clean_text(text(creator, "familyName"))
    name = clean_text(text(creator, "name"))
    if text(creator, "nameType") == "Organizational":
        return PersonName(name, is_organisation=True) if name else None
    if family:
        return PersonName(family, clean_text(text(creator, "givenName")))
    return name_from_text(name) if name else None
