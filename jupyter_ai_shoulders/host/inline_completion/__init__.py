"""Context of inline completions: cells and variables of a notebook, and the text at the caret."""
