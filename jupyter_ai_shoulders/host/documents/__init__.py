"""Notebooks and text files of the workspace, and the review of their changes."""
