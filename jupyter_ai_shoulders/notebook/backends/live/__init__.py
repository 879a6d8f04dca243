"""Notebooks open in browser pages.

Requests to pages, unsaved edits, disconnected pages and recovery copies.
"""
