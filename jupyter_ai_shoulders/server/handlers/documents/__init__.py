"""HTTP handlers of edits, proposals, operations, and stored blobs and artifacts."""
