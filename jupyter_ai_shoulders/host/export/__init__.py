"""Conversations as files: Markdown, notebook, or their events."""
