"""The event log, the table of sessions, and copies of sessions."""
