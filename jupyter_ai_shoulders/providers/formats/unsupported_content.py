"""Words in place of what a format or a model cannot be sent; used by the adapters' ``encode``."""

EMPTY_RESULT = "(no output)"
NO_IMAGES = "[An image was here; this model cannot read images.]"
