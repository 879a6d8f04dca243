"""Access to workspace files that never leaves the workspace root.

Safe opening, atomic writes, moves.
"""
