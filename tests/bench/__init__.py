"""The figures of chapter 14, each beside its floor in the same run: ``make bench``."""
