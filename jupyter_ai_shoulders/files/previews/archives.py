"""Checks a zip archive of XML before a reader opens it: size, ratio, number of members, no DTD.

Office documents are such archives. Run by ``files.previews.worker`` in its own process. The
declared sizes are checked first and enforced afterwards, since they may be false.
"""

from __future__ import annotations

import io
import zipfile

from jupyter_ai_shoulders.core.errors import InvalidRequest, TooLarge

UNPACKED_LIMIT = 200 << 20
"""Bytes of all members together."""
RATIO_LIMIT = 150
"""Unpacked to packed size; spreadsheets of equal rows reach 50."""
RATIO_FROM = 10 << 20
"""Smaller archives may have any ratio."""
MEMBERS_LIMIT = 5_000

_DECLARATIONS = tuple(
    text.encode(encoding)
    for text in ("<!DOCTYPE", "<!ENTITY")
    for encoding in ("utf-8", "utf-16-le", "utf-16-be")
)
_OVERLAP = max(map(len, _DECLARATIONS))
_PIECE = 1 << 20


def check_archive(content: bytes) -> None:
    """Raise ``TooLarge`` or ``InvalidRequest`` unless the archive is safe to open."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_sizes(archive, len(content))
            for member in archive.infolist():
                _check_member(archive, member)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, NotImplementedError) as error:
        raise InvalidRequest(f"it is damaged: {error}") from error
    except RuntimeError as error:  # zipfile raises it when a password is needed
        raise InvalidRequest("it is protected by a password") from error


def _check_sizes(archive: zipfile.ZipFile, packed: int) -> None:
    members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    if len(members) > MEMBERS_LIMIT:
        raise TooLarge(f"it has {len(members)} parts; {MEMBERS_LIMIT} are the most")
    if unpacked > UNPACKED_LIMIT:
        raise TooLarge(f"it unpacks to {unpacked >> 20} MB; {UNPACKED_LIMIT >> 20} MB are the most")
    if unpacked > RATIO_FROM and unpacked > RATIO_LIMIT * packed:
        raise TooLarge(f"it unpacks to {unpacked // packed} times its size, as archive bombs do")


def _check_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Read a member up to its declared size, and refuse XML that documents never contain."""
    if not member.filename.lower().endswith((".xml", ".rels", ".vml")):
        return
    before = b""
    with archive.open(member) as stream:
        while piece := stream.read(_PIECE):
            text = before + piece
            if any(declaration in text for declaration in _DECLARATIONS):
                raise InvalidRequest("its XML declares entities, which documents never do")
            before = text[-_OVERLAP:]
