"""Hostile texts for the tests of conversations and other surfaces."""
