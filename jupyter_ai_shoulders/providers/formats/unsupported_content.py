"""Placeholder texts for content that a format or model does not support; used by ``encode``."""

EMPTY_RESULT = "(no output)"
NO_IMAGES = "[An image was here; this model cannot read images.]"
