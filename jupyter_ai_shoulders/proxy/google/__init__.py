"""Google ``generateContent`` as a caller speaks it (reference §4)."""
