"""Google ``generateContent`` as a caller's format."""
