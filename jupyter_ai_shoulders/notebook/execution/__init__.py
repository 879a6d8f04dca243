"""Runs cells, scratch code and whole notebooks in kernels, and follows each run to its end."""
