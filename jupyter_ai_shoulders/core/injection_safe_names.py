"""Which file names are too short to carry an instruction, so that a request may hold them.

Names come with a clone or an archive, so they are text of somebody else. Used by
``host.context.environment`` and ``engine.loop.taint_tracking``; the tools that list files show all
names.
"""

from __future__ import annotations

import re

MOST_WORDS = 5
"""Words of one name, with its ending."""
MOST_WORDS_OF_PATH = 8
MOST_CHARACTERS = 40
MOST_UNSPACED = 12
"""Characters of a script that is written without blanks, such as Chinese."""
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_A-Za-z]+")
_RANDOM = re.compile(r"[0-9a-fA-F-]{1,36}|\w{1,12}")


def is_injection_safe_name(path: str) -> bool:
    """Return whether a path consists of short names without blanks, and is no sentence itself."""
    parts = path.strip("/").split("/")
    words = [len(_WORDS.findall(part)) for part in parts]
    return (
        max(words) <= MOST_WORDS and sum(words) <= MOST_WORDS_OF_PATH and all(map(_is_short, parts))
    )


def is_injection_safe_id(cell_id: str) -> bool:
    """Return whether the id of a cell is short or random, as programs make them."""
    return _RANDOM.fullmatch(cell_id) is not None or is_injection_safe_name(cell_id)


def _is_short(name: str) -> bool:
    unspaced = sum(1 for sign in name if ord(sign) > 0x2E7F)
    return (
        name.isprintable()
        and " " not in name
        and len(name) <= MOST_CHARACTERS
        and unspaced <= MOST_UNSPACED
    )
