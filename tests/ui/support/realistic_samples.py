"""Conversations of ordinary work in every state, for audits and screenshots."""

from __future__ import annotations

from tests.ui.support.conversation_samples import ConversationSamples

TEXTS = (
    "The cell **works**: it adds and it prints `total`.",
    "## What was found\n\n1. one column is *empty*\n2. two are right\n\n- [x] done\n- [ ] not yet",
    "| region | wines |\n|---|--:|\n| north | 12 |\n| south | 7 |",
    "```python\nimport pandas as pd\n\nwines = pd.read_csv('wines.csv')  # a comment\n```",
    "> A quote with [a link](https://docs.example/page).",
    "The mean is $\\bar x = \\frac{1}{n}\\sum x_i$.",
    "A paragraph of several lines, with a_rather_long_name_of_a_variable_in_it and an end.",
)

FILES = {
    "table.csv": "region,wines\nnorth,12\nsouth,7\n",
    "notes.md": "# Notes\n\nA line.\n",
    "drawing.svg": '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" '
    'height="9" fill="teal"/></svg>',
    "page.html": "<h1>A report</h1><p>With a paragraph.</p>",
}

REALISTIC_SAMPLES = ConversationSamples(
    TEXTS, ("analysis.ipynb", "data/wines of the year.csv"), FILES
)
