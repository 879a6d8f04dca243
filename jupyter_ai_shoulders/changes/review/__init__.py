"""Edits that await the user's review: what the agent changed, kept or taken back (chapter 07)."""
