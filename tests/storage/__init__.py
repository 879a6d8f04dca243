"""Tests of the event log, the sessions and their files."""
