"""Which file names are too short to carry an instruction, so that a request may list them.

Names come with a clone or an archive, so they are text of somebody else. Used by
``host.surroundings``; the tools that list files show all names.
"""

from __future__ import annotations

import re

MOST_WORDS = 4
MOST_CHARACTERS = 40
MOST_UNSPACED = 12
"""Characters of a script that is written without blanks, such as Chinese."""
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_A-Za-z]+")


def is_plain_name(path: str) -> bool:
    """Return whether every part of a path is a short name, not a sentence."""
    return all(map(_is_plain, path.strip("/").split("/")))


def _is_plain(name: str) -> bool:
    words = _WORDS.findall(name)
    unspaced = sum(1 for sign in name if ord(sign) > 0x2E7F)
    return (
        name.isprintable()
        and len(name) <= MOST_CHARACTERS
        and len(words) <= MOST_WORDS
        and unspaced <= MOST_UNSPACED
    )
