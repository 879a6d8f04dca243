"""Writes a work as a new BibTeX entry, with a key that the settings describe. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from itertools import count

from jupyter_ai_shoulders.references.bibtex.editing import delimited_value
from jupyter_ai_shoulders.references.latex_text import escaped
from jupyter_ai_shoulders.references.names import PersonName, bibtex_names
from jupyter_ai_shoulders.references.registers.work import MONTHS, RegisterWork
from jupyter_ai_shoulders.wire.api.settings import KeyPattern

_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a the an on of in for and to at by from with der die das ein eine und zur zum von le la"
        " les un une des du de et el los las una y il lo gli",
    )
)
_LETTERS = str.maketrans(
    {"ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "æ": "ae", "Æ": "AE", "œ": "oe", "đ": "d"}
)
_WORD = re.compile(r"[A-Za-z0-9]+")
_INNER_CAPITAL = re.compile(r"(?<![\w{\\])(?=\w*\w[A-Z])([A-Za-z0-9][\w-]*)(?![\w}])")
_ORDER = (
    "author",
    "editor",
    "title",
    "journal",
    "booktitle",
    "series",
    "edition",
    "volume",
    "number",
    "pages",
    "publisher",
    "school",
    "institution",
    "howpublished",
    "address",
    "year",
    "month",
    "version",
    "isbn",
    "issn",
    "doi",
    "eprint",
    "archiveprefix",
    "primaryclass",
    "url",
    "file",
    "unverified",
)


def new_key(work: RegisterWork, pattern: KeyPattern, taken: Collection[str]) -> str:
    """Return a key by the pattern; ``taken`` are keys in lower case, which it does not repeat."""
    names = work.authors or work.editors
    author = _plain(_key_name(names[0])) if names else ""
    words = [word.lower() for word in _WORD.findall(_ascii(work.title))]
    words = [word for word in words if word not in _STOP_WORDS] or words
    author = author or (words[0] if words else "") or "ref"
    year = re.sub(r"\D", "", work.year)[:4]
    match pattern:
        case "authoryear":
            key = f"{author}{year}"
        case "authoryearword":
            key = f"{author}{year}{''.join(words[:1])}"
        case "authortitleyear":
            key = f"{author}{''.join(words[:1])}{year}"
        case "authoryeartitle":
            key = f"{author}{year}{''.join(words[:4])}"
    return free_key(key, taken)


def free_key(key: str, taken: Collection[str]) -> str:
    """Return a key, with a letter at its end if it is taken."""
    folded = {other.casefold() for other in taken}
    if key.casefold() not in folded:
        return key
    return next(f"{key}{end}" for end in _suffixes() if f"{key}{end}".casefold() not in folded)


def entry_text(work: RegisterWork, key: str, unverified: str = "", file: str = "") -> str:
    """Return the entry of a work; fields that are not known are left out."""
    values = dict(work.fields)
    values |= {"year": work.year, "doi": work.doi, "file": file}
    if work.doi and "eprint" not in values:
        values.pop("url", None)
    written = {name: escaped(value, name) for name, value in values.items() if value}
    if work.authors:
        written["author"] = bibtex_names(work.authors)
    if work.editors:
        written["editor"] = bibtex_names(work.editors)
    written["title"] = _INNER_CAPITAL.sub(r"{\1}", escaped(work.title))
    if work.month is not None and work.year:
        written["month"] = MONTHS[work.month - 1]
    if unverified:
        written["unverified"] = escaped(unverified)
    order = {name: place for place, name in enumerate(_ORDER)}
    names = sorted(written, key=lambda name: (order.get(name, len(order)), name))
    width = max(map(len, names))
    fields = (f"  {name:<{width}} = {delimited_value(name, written[name])},\n" for name in names)
    return f"@{work.type}{{{key},\n{''.join(fields)}}}"


def _suffixes() -> Iterator[str]:
    for number in count():
        letters = chr(ord("a") + number % 26)
        yield letters if number < 26 else f"{letters}{number // 26}"


def _key_name(name: PersonName) -> str:
    """Return the family name, or the first word of an organisation that says something."""
    if not name.is_organisation:
        return name.family
    words = name.family.split()
    return next((word for word in words if word.lower() not in _STOP_WORDS), name.family)


def _plain(name: str) -> str:
    return "".join(_WORD.findall(_ascii(name))).lower()


def _ascii(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return "".join(sign for sign in plain if sign.isascii())
