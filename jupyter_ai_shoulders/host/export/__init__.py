"""Conversations as files: Markdown, notebook, or raw events."""
