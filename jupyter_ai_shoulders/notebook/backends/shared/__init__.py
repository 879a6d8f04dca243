"""Notebooks in collaboration rooms, read and edited as Y documents on the server."""
