"""Inline completion: suggestions at the caret from one call to a small model."""
