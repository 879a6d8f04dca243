"""Restores documents: plans, files, and the state kernels keep."""
