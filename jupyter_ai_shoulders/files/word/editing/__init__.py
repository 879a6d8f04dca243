"""Edits of a Word document: its paragraphs, runs and comments."""
