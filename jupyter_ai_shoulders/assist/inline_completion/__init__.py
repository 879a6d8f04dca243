"""Suggestions at the caret (chapter 10): one call to a small model, many ways to say nothing."""
