"""Kernels.

Connections, one execution queue per kernel, restarts, execute requests and variables.
"""
