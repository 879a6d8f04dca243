"""Notebooks and kernels behind ports."""
