"""Fetched pages as text for models."""
