"""Notebooks that no page has open: files edited in place, or saved through the contents manager."""
