"""Task threads: opening, anchors in documents, import from documents, and run results."""
