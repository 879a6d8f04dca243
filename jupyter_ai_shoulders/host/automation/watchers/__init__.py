"""Watchers: runs after files of the workspace changed."""
