"""Performance figures, each beside its floor in the same run: ``make bench``."""
