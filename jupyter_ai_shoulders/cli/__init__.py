"""``jupyter shoulders``: the AI colleague in a terminal and in scripts."""
