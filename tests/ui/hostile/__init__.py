"""Hostile text, and conversations full of it, which ``test_hostile`` shows."""
