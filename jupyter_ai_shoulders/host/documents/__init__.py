"""Notebooks and text files of the workspace, the review of changes, and frames from pages."""
