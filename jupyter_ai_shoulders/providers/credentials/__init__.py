"""Finds, stores and recognises API keys."""
