"""Notebook files as text.

Parses nbformat files cell by cell, edits them in place, and gives cells stable ids.
"""
