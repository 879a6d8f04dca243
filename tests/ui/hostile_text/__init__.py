"""Hostile text, which ``test_hostile`` shows in conversations full of it."""
