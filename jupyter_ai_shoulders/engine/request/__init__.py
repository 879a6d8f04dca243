"""Builds model requests: system prompt, context sources, size limits and compaction."""
