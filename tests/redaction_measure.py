"""Measures redaction: ``python -m tests.redaction_measure [FOLDER of notebooks]``.

Prints how many kinds of keys are redacted completely, and false positives in notebooks, hashes and
pictures. Without a folder it reads the notebooks of installed packages.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import sys
import sysconfig
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random
from uuid import UUID

from jupyter_ai_shoulders.core.redaction.redactor import MASK, Redactor
from tests.support.secret_samples import AROUND, COMMON, FIXED_PREFIX, secret

SAMPLES = 20
HASHES = 80_000
PICTURES = 200


def missed(kinds: Mapping[str, str], random: Random, samples: int = SAMPLES) -> list[str]:
    """Return the kinds with a key that is not redacted completely, alone or in an event's JSON."""
    return [
        kind
        for kind, template in kinds.items()
        if not all(
            _is_masked(secret(template, random), *AROUND.get(kind, ("", "")))
            for _ in range(samples)
        )
    ]


def hashes(count: int, random: Random) -> Iterator[str]:
    """Yield digests, commit ids and UUIDs, as spelled in notebooks."""
    for number in range(count):
        raw = random.randbytes(32)
        match number % 8:
            case 0:
                yield hashlib.md5(raw, usedforsecurity=False).hexdigest()
            case 1:
                yield hashlib.sha1(raw, usedforsecurity=False).hexdigest()
            case 2:
                yield hashlib.sha256(raw).hexdigest()
            case 3:
                yield str(UUID(bytes=raw[:16], version=4))
            case 4:
                yield f"sha256-{base64.b64encode(raw).decode()}"
            case 5:
                yield hashlib.sha512(raw).hexdigest().upper()
            case 6:
                yield f"https://example.org/commit/{raw[:20].hex()}#diff-{raw.hex()}"
            case _:
                yield base64.urlsafe_b64encode(raw[:16]).decode().rstrip("=")


def pictures(count: int, random: Random) -> Iterator[str]:
    """Yield PNG pictures of about 40,000 bytes in base64: on one line, and in lines of 76."""
    for number in range(count):
        png = _png(random, noisy=number % 2 == 0)
        yield base64.b64encode(png).decode() if number % 4 < 2 else base64.encodebytes(png).decode()


def masked_by_mistake(texts: Iterable[str]) -> list[str]:
    """Return what is redacted in texts without keys."""
    redactor = Redactor()
    return [text[begin:end] for text in texts for begin, end in redactor.spans(text)]


def notebooks(folder: Path) -> list[Path]:
    """Return the notebooks below a folder."""
    return sorted(folder.rglob("*.ipynb"))


def main() -> None:
    """Measure and print."""
    random = Random(16)
    for title, kinds in (("fixed-prefix kinds", FIXED_PREFIX), ("common kinds", COMMON)):
        not_whole = missed(kinds, random)
        _say(f"{title}: {len(kinds) - len(not_whole)} of {len(kinds)} masked whole {not_whole}")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else sysconfig.get_path("purelib"))
    paths = notebooks(folder)
    found: list[str] = []
    for path in paths:
        text = path.read_text("utf-8", "replace")
        here = masked_by_mistake([text, json.dumps(text)])
        found += here
        for masked in here:
            _say(f"  {path.relative_to(folder)}: {masked[:80]!r}")
    _say(f"notebooks: {len(found)} masked in {len(paths)} files of {folder.name}")
    by_hash = masked_by_mistake(hashes(HASHES, random))
    _say(f"hashes and UUIDs: {len(by_hash)} masked of {HASHES} {by_hash[:5]}")
    by_picture = masked_by_mistake(pictures(PICTURES, random))
    _say(f"base64 pictures: {len(by_picture)} masked in {PICTURES} {by_picture[:5]}")


def _is_masked(key: str, before: str, after: str) -> bool:
    redactor = Redactor()
    text = f"it is\n{before}{key}{after}\nand so on"
    wanted = f"it is\n{before}{MASK}{after}\nand so on"
    event = json.dumps({"text": text, "next": "field"})
    return (
        redactor.redact(text) == wanted
        and json.loads(redactor.redact(event)) == {"text": wanted, "next": "field"}
        and json.loads(json.loads(redactor.redact(json.dumps(event))))
        == json.loads(json.dumps({"text": wanted, "next": "field"}))
    )


def _png(random: Random, *, noisy: bool) -> bytes:
    width, height = 120, 110
    if noisy:
        rows = b"".join(b"\0" + random.randbytes(width * 3) for _ in range(height))
    else:
        row = b"\0" + bytes(random.randrange(256) for _ in range(12)) * (width // 4)
        rows = row * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
