"""Recovers events and sessions from a damaged database or write-ahead log."""
