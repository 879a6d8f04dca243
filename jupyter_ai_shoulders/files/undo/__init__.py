"""Undoes changes of files, including those of simple shell commands."""
