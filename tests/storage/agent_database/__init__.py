"""Tests of the agent's database, on real SQLite in real worker processes."""
