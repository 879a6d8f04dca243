"""Looks for keys in everything tests wrote: databases with their logs, blobs, server logs, files.

``tests.conftest`` does so after every run, over the run's whole temporary directory; a key may be
in its own file and nowhere else.
"""

from __future__ import annotations

import base64
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

from tests.simulator.server import DEFAULT_KEY
from tests.simulator_process import KEY as UPSTREAM_KEY

CANARY = "canary-key-9f31c07be2a4d658"
"""Set through the API by ``tests/server/handlers/configuration/test_keys_api.py``."""

KNOWN = (CANARY, DEFAULT_KEY, UPSTREAM_KEY, "sk-wrong-and-secret")
"""The keys that tests give to servers."""

OWN_FILES = frozenset({"keys.env"})


def find_leaks(root: Path, secrets: Iterable[str] = KNOWN) -> list[str]:
    """Return the files below ``root`` that hold a key, whatever its spelling."""
    wanted = {spelling for secret in secrets for spelling in spellings(secret)}
    return sorted(
        f"{path.relative_to(root)}: {spelling.decode()}"
        for path in _files(root)
        if path.name not in OWN_FILES
        for content in contents(path)
        for spelling in wanted
        if spelling in content
    )


def spellings(secret: str) -> set[bytes]:
    """Return the key as it is, in an address, in base 64."""
    plain = secret.encode()
    return {plain, quote(secret, safe="").encode(), base64.b64encode(plain)}


def contents(path: Path) -> Iterator[bytes]:
    """Yield a file's bytes, unpacked too where they are compressed."""
    try:
        content = path.read_bytes()
    except OSError:  # sockets, and what tests made unreadable
        return
    yield content
    if content[:1] == b"\x78":
        try:
            yield zlib.decompress(content)
        except zlib.error:
            return


def _files(root: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(root):
        yield from (Path(folder, name) for name in names if Path(folder, name).is_file())
