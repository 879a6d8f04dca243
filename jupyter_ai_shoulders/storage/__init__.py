"""SQLite event log, sessions and blobs."""
