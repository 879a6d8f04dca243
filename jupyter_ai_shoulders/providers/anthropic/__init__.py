"""Anthropic Messages: encode a request, decode its stream, read its errors (reference §1)."""
