"""Detects, tests, adds and removes the user's providers."""
