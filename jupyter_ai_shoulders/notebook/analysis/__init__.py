"""Static analysis of Python cells and run history.

Which names a cell uses, and which cells are stale.
"""
