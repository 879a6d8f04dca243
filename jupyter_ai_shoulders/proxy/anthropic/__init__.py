"""Anthropic Messages as a caller speaks it (reference §1)."""
