"""Reads the parts of a Word document, and writes it again with some of them replaced.

Members that are not replaced are copied as they are stored: bytes, order, compression and times.
Run by ``files.word.worker``. Formats: ECMA-376 part 2 (packages), PKWARE's APPNOTE 6.3 (zip).
"""

from __future__ import annotations

import io
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, TooLarge
from jupyter_ai_shoulders.files.previews.archives import check_archive
from jupyter_ai_shoulders.files.word.parsing.xml_tree import Element, parse_xml

PART_LIMIT = 48 << 20
"""Bytes of the largest XML part that is parsed."""
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The beginning of ``.doc`` files and of encrypted documents (MS-CFB)."""
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_DEFLATED = 8
_UTF8_NAME = 0x800
RELATIONSHIPS = "_rels/.rels"


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship of a part; ``target`` is a part's name, or an address if ``external``."""

    id: str
    type: str
    """The last part of its type, such as ``comments``."""
    target: str
    external: bool


class WordPackage:
    """The parts of one document."""

    def __init__(self, content: bytes) -> None:
        """Raises ``InvalidRequest`` and ``TooLarge`` for what is not a safe Word document."""
        self.content = content
        _check_kind(content)
        check_archive(content)
        self._archive = zipfile.ZipFile(io.BytesIO(content))
        names = self._archive.namelist()
        if len({name.lower() for name in names}) != len(names):
            raise InvalidRequest("it has two parts of one name")
        self._names = {name.lower(): name for name in names}
        self._trees: dict[str, Element] = {}
        self.main = self._main()

    def has(self, name: str) -> bool:
        """Return whether there is a part of this name; case does not count."""
        return name.lower() in self._names

    def names(self) -> list[str]:
        """Return the names of all members in order."""
        return list(self._names.values())

    def read(self, name: str, limit: int = PART_LIMIT) -> bytes:
        """Return a part. Raises ``TooLarge``, and ``InvalidRequest`` for a missing one."""
        stored = self._names.get(name.lower())
        if stored is None:
            raise InvalidRequest(f"its part {name} is missing")
        if self._archive.getinfo(stored).file_size > limit:
            raise TooLarge(f"its part {name} has more than {limit >> 20} MB")
        return self._archive.read(stored)

    def tree(self, name: str) -> Element:
        """Return the root of an XML part. Raises as ``read``."""
        if name not in self._trees:
            self._trees[name] = parse_xml(self.read(name), name)
        return self._trees[name]

    def relationships(self, part: str) -> list[Relationship]:
        """Return the relationships of a part; ``""`` is the package."""
        name = relationships_name(part)
        if not self.has(name):
            return []
        base = posixpath.dirname(part)
        return [
            _relationship(element, base)
            for element in self.tree(name).children
            if element.name == "rel:Relationship"
        ]

    def related(self, part: str, kind: str) -> list[str]:
        """Return the existing parts that a part has relationships of a type to."""
        return [
            found.target
            for found in self.relationships(part)
            if found.type == kind and not found.external and self.has(found.target)
        ]

    def _main(self) -> str:
        if not self.has(RELATIONSHIPS) or not self.has("[Content_Types].xml"):
            raise InvalidRequest("it is not a Word document")
        found = self.related("", "officeDocument")
        if not found or self.tree(found[0]).name != "w:document":
            raise InvalidRequest("it is not a Word document")
        return found[0]


def relationships_name(part: str) -> str:
    """Return the name of the part with another part's relationships."""
    folder, name = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{name}.rels")


def _relationship(element: Element, base: str) -> Relationship:
    target, external = element.get("Target"), element.get("TargetMode") == "External"
    if not external:
        joined = target if target.startswith("/") else posixpath.join("/", base, target)
        target = posixpath.normpath(joined).lstrip("/")
    return Relationship(element.get("Id"), element.get("Type").rpartition("/")[2], target, external)


def _check_kind(content: bytes) -> None:
    if content.startswith(_COMPOUND_FILE):
        if _ENCRYPTED in content:
            raise InvalidRequest(
                "it is protected by a password",
                hint="Ask the user to save it without a password.",
            )
        raise InvalidRequest(
            "it is in the old format of Word 97-2003",
            hint="Ask the user to save it as .docx.",
        )
    if not content.startswith(b"PK"):
        raise InvalidRequest(
            "it is not a Word document (.docx is a zip archive)",
            hint="Check where it comes from; its name may be wrong.",
        )


def rewritten(content: bytes, replaced: Mapping[str, bytes]) -> bytes:
    """Return the archive with these members replaced or, if new, added at its end.

    Raises ``Conflict`` for archives that this cannot do byte for byte (zip64 positions).
    """
    members = zipfile.ZipFile(io.BytesIO(content)).infolist()
    end_at, entries = _central_entries(content)
    by_position = sorted(members, key=lambda member: member.header_offset)
    following = [member.header_offset for member in by_position[1:]]
    starts = {
        entry.filename: end for entry, end in zip(by_position, [*following, end_at], strict=True)
    }
    first = by_position[0].header_offset if by_position else end_at
    parts = [content[:first]]
    written = first
    offsets: dict[str, tuple[int, bytes | None]] = {}
    for member in by_position:
        new = replaced.get(member.filename)
        raw = content[member.header_offset : starts[member.filename]]
        header = None
        if new is not None:
            raw, header = _member(member.filename, new, member)
        offsets[member.filename] = written, header
        parts.append(raw)
        written += len(raw)
    central: list[bytes] = []
    for member, entry in zip(members, entries, strict=True):
        at, header = offsets[member.filename]
        central.append((header or entry)[:42] + struct.pack("<L", at) + (header or entry)[46:])
    for name in replaced.keys() - {member.filename for member in members}:
        raw, header = _member(name, replaced[name], members[0])
        central.append(header[:42] + struct.pack("<L", written) + header[46:])
        parts.append(raw)
        written += len(raw)
    directory = b"".join(central)
    comment = zipfile.ZipFile(io.BytesIO(content)).comment
    end = _END.pack(
        b"PK\x05\x06", 0, 0, len(central), len(central), len(directory), written, len(comment)
    )
    return b"".join([*parts, directory, end, comment])


def _central_entries(content: bytes) -> tuple[int, list[bytes]]:
    """Return where the central directory begins, and its entries as stored."""
    archive = zipfile.ZipFile(io.BytesIO(content))
    position = archive.start_dir
    entries: list[bytes] = []
    for _ in archive.infolist():
        fields = _CENTRAL.unpack_from(content, position)
        length = _CENTRAL.size + fields[10] + fields[11] + fields[12]
        if fields[16] == 0xFFFFFFFF or fields[16] > len(content):
            raise _not_plain()
        entries.append(content[position : position + length])
        position += length
    return archive.start_dir, entries


def _member(name: str, content: bytes, like: zipfile.ZipInfo) -> tuple[bytes, bytes]:
    """Return a member as stored, and its central entry; its time is that of ``like``."""
    squeezer = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = squeezer.compress(content) + squeezer.flush()
    encoded = name.encode()
    flags = 0 if name.isascii() else _UTF8_NAME
    year, month, day, hour, minute, second = like.date_time
    date, time = (
        (max(year, 1980) - 1980) << 9 | month << 5 | day,
        hour << 11 | minute << 5 | second // 2,
    )
    facts = (time, date, zlib.crc32(content), len(packed), len(content), len(encoded), 0)
    local = _LOCAL.pack(b"PK\x03\x04", 20, flags, _DEFLATED, *facts)
    central = _CENTRAL.pack(
        b"PK\x01\x02", 20, 20, flags, _DEFLATED, *facts, 0, 0, 0, like.external_attr, 0
    )
    return local + encoded + packed, central + encoded


def _not_plain() -> Conflict:
    return Conflict(
        "its archive is laid out in a way that cannot be kept",
        hint="Ask the user to save it again with Word or LibreOffice.",
    )
