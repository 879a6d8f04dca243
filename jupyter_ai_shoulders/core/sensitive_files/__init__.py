"""Paths that need special care.

Files with secrets, and files that run or instruct programs later.
"""
