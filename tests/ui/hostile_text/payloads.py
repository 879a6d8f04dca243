"""All hostile texts, and the conversations that show them."""

from __future__ import annotations

import json

from tests.ui.hostile_text.deceptive_characters import LETTERS, NAMES
from tests.ui.hostile_text.markup import MARKUP
from tests.ui.support.conversation_samples import ConversationSamples

PAYLOADS = (*MARKUP, *LETTERS)
"""Each of them once."""

FILES = {
    "page.html": "\n".join(PAYLOADS),
    "drawing.svg": f"<svg xmlns='http://www.w3.org/2000/svg'>{''.join(MARKUP)}</svg>",
    "table.csv": "\n".join(f'{json.dumps(each)},"x"' for each in PAYLOADS),
    "notes.md": "\n\n".join(PAYLOADS),
    "data.json": json.dumps({each: each for each in PAYLOADS}),
}

HOSTILE = ConversationSamples(PAYLOADS, NAMES, FILES)
