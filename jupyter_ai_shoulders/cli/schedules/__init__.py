"""``jupyter shoulders schedule``."""
