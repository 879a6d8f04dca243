"""BibTeX files: parsed with spans, and changed by span."""
