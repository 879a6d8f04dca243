"""Changes a BibTeX file by span: every byte that is not of a changed field stays.

Pure; blocks like ``parse_bibliography``. A changed entry is parsed again and compared, so that a
change which would damage the file is refused, not written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound
from jupyter_ai_shoulders.references.bibtex.bibliography import (
    MONTHS,
    BibEntry,
    Bibliography,
    parse_bibliography,
)
from jupyter_ai_shoulders.references.bibtex.fields import FieldSpan
from jupyter_ai_shoulders.references.latex_text import DECODED_LIMIT, decoded

_FIELD_NAME = re.compile(r"[A-Za-z_][\w.:+/-]{0,63}", re.ASCII)
_UNESCAPED_BRACE = re.compile(r"(?<!\\)[{}]")
_ANY_BRACE = re.compile(r"[{}]")
_TRAILING_BACKSLASHES = re.compile(r"\\*\Z")
_INDENT = re.compile(r"\n([ \t]*)\Z")


def edit_entry(file: Bibliography, key: str, fields: Mapping[str, str | None]) -> str:
    """Return the file's text with changed fields; None removes a field.

    Values are BibTeX without outer delimiters. Fields whose value is the wanted one already stay as
    they are, names of strings and concatenations included. Raises ``NotFound`` (no such entry or
    field), ``InvalidRequest`` (a name or a value that BibTeX cannot hold), ``Conflict``.
    """
    entry = _required(file, key)
    values = {_checked_name(name): value for name, value in fields.items()}
    text = file.text[entry.start : entry.end]
    edits: list[tuple[int, int, str]] = []
    added: list[tuple[str, str]] = []
    existing = {found.name.lower(): found for found in entry.spans.fields}
    for name, value in values.items():
        found = existing.get(name)
        if value is None:
            if found is None:
                raise NotFound(
                    f"{entry.key} has no field {name}.", hint="Read the entry for its fields."
                )
            edits.append((*_removal(text, entry, found), ""))
        elif found is None:
            added.append((name, _delimited(name, value, None)))
        elif not _is_same(entry.values[name], value):
            edits.append((found.value_start, found.value_end, _delimited(name, value, found)))
    if added:
        edits.append(_addition(text, entry, values, added))
    changed = text
    for start, end, new in sorted(edits, reverse=True):
        changed = changed[:start] + new + changed[end:]
    _verify(entry, values, changed)
    return file.text[: entry.start] + changed + file.text[entry.end :]


def append_entry(text: str, entry: str) -> str:
    """Return the text of a file with an entry at its end, after an empty line.

    Raises ``InvalidRequest`` if the entry is not one entry of BibTeX that can be read back.
    """
    entry = entry.strip("\n")
    gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
    result = f"{text}{gap}{entry}\n"
    alone = parse_bibliography(entry)
    if len(alone.entries) != 1 or alone.broken or alone.entries[0].start:
        raise InvalidRequest(
            "The text is not one whole BibTeX entry, so it is not added.",
            hint="Give one entry, from its @ to its closing brace.",
        )
    return result


def delete_entry(file: Bibliography, key: str) -> str:
    """Return the file's text without an entry and the line end after it. Raises ``NotFound``."""
    entry = _required(file, key)
    start, end = entry.start, entry.end
    begins_line = start == 0 or file.text[start - 1] == "\n"
    if begins_line and file.text[end : end + 1] == "\n":
        end += 1
        after_blank = start == 0 or file.text[:start].endswith("\n\n")
        if after_blank and file.text[end : end + 1] == "\n":
            end += 1
    return file.text[:start] + file.text[end:]


def delimited_value(name: str, value: str) -> str:
    """Return a value as a new field has it. Raises ``InvalidRequest``."""
    return _delimited(name.lower(), value, None)


def _required(file: Bibliography, key: str) -> BibEntry:
    entry = file.find(key)
    if entry is not None:
        return entry
    broken = next((place for place in file.broken if place.key == key), None)
    if broken is not None:
        raise Conflict(
            f"The entry {key} on line {broken.line} is broken, so it is not changed:"
            f" {broken.message}",
            hint="Correct it in the file first.",
        )
    raise NotFound(f"No bibliography has the key {key}.", hint="Search for the reference.")


def _checked_name(name: str) -> str:
    if not _FIELD_NAME.fullmatch(name):
        raise InvalidRequest(
            f"{name!r} is not a name of a field.", hint="Use letters, such as `journal`."
        )
    return name.lower()


def _is_same(current: str, wanted: str) -> bool:
    wanted, current = " ".join(wanted.split()), " ".join(current.split())
    return wanted == current or (len(current) <= DECODED_LIMIT and wanted == decoded(current))


def _delimited(name: str, value: str, existing: FieldSpan | None) -> str:
    """Return a value with its delimiters; those of the existing value if it can have them."""
    value = " ".join(value.split())  # an @ at the beginning of a line would begin an entry
    _check_braces(name, value)
    if name == "month" and value[:3].lower() in MONTHS:
        short = value[:3].lower()
        if value.lower() in {short, MONTHS[short].lower()}:
            return short
    kind = existing.pieces[0].kind if existing and len(existing.pieces) == 1 else "braced"
    if kind == "bare" and value.isascii() and value.isdigit():
        return value
    if kind == "quoted" and '"' not in value:
        return f'"{value}"'
    return f"{{{value}}}"


def _check_braces(name: str, value: str) -> None:
    r"""Raise ``InvalidRequest`` unless braces match for BibTeX and for parsers that skip ``\{``."""
    for marks in (_UNESCAPED_BRACE, _ANY_BRACE):
        depth = 0
        for mark in marks.finditer(value):
            depth += 1 if mark[0] == "{" else -1
            if depth < 0:
                break
        if depth:
            raise InvalidRequest(
                f"The braces of the new value of {name} do not match.",
                hint="Close every { with a }, or leave both out.",
            )
    ending = _TRAILING_BACKSLASHES.search(value)
    if ending is not None and len(ending[0]) % 2:
        raise InvalidRequest(
            f"The new value of {name} ends with a backslash, which would hide its end.",
            hint="Leave the backslash out.",
        )


def _removal(text: str, entry: BibEntry, found: FieldSpan) -> tuple[int, int]:
    """Return the span of a field with its line, and with the comma after it.

    Without a line for itself it begins after the comma before it. Comments before it stay.
    """
    commas = entry.spans.commas
    before = max(comma for comma in commas if comma < found.start)
    if "%" in text[before : found.start]:
        before = text.rindex("\n", 0, found.start) - 1
    after = next((comma for comma in commas if comma >= found.value_end), None)
    return before + 1, found.value_end if after is None else after + 1


def _addition(
    text: str,
    entry: BibEntry,
    values: Mapping[str, str | None],
    added: list[tuple[str, str]],
) -> tuple[int, int, str]:
    """Return the insertion of new fields after the last one, laid out like it.

    It stays clear of the spans of removed fields.
    """
    spans = entry.spans
    last = spans.fields[-1] if spans.fields else None
    stays = last is None or values.get(last.name.lower(), "") is not None
    place = spans.key_end if last is None else last.value_end
    trailing = next((comma for comma in spans.commas if comma >= place), None)
    if trailing is not None:
        place = trailing + 1
    before, separator = _layout(text, last)
    fields = [f"{before}{_aligned(name, separator)}{value}" for name, value in added]
    if trailing is not None:
        inserted = ",".join(fields) + ("," if last is not None else "")
    elif stays:
        inserted = "," + ",".join(fields)
    else:  # the last field goes away, and the comma before it stays
        inserted = ",".join(fields)
    if last is None and "\n" not in text[place : spans.close]:
        inserted += "\n"
    return place, place, inserted


def _layout(text: str, last: FieldSpan | None) -> tuple[str, str]:
    """Return the space before a field, and what is from the begin of its name to its value."""
    if last is None:
        return "\n  ", " = "
    head = text[: last.start]
    space = head[len(head.rstrip()) :]
    indent = _INDENT.search(space)
    before = f"\n{indent[1]}" if indent else space or " "
    return before, text[last.start : last.value_start]


def _aligned(name: str, pattern: str) -> str:
    """Return a name with its equals sign, which stays in the column of its neighbour's."""
    if pattern.startswith(" "):
        return name + pattern
    head, _, tail = pattern.partition("=")
    tail = "" if "\n" in tail else tail
    pad = len(head) - len(name)
    spaces = head[len(head.rstrip()) :]
    if "\n" in head:
        return f"{name} ={tail}"
    if len(spaces) > 1 and pad > 0:
        return f"{name}{' ' * pad}={tail}"
    return f"{name}{' ' if spaces else ''}={tail}"


def _verify(entry: BibEntry, values: Mapping[str, str | None], changed: str) -> None:
    """Raise ``Conflict`` unless the entry reads as wanted.

    The text around it is the same, and an entry does not depend on those before it.
    """
    alone = parse_bibliography(changed)
    now = alone.entries[0] if len(alone.entries) == 1 and not alone.broken else None
    expected = {name for name in entry.values if values.get(name, "") is not None}
    expected |= {name for name, value in values.items() if value is not None}
    if (
        now is None
        or now.end != len(changed)
        or now.key != entry.key
        or set(now.values) != expected
    ):
        raise Conflict(
            f"{entry.key} was not changed: the entry could not be read after the change.",
            hint="Change the field in the file itself.",
        )
