"""Anthropic Messages as a caller's format."""
