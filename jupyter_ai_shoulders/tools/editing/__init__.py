"""Text replacement, three-way merge and diffs, shared by the tools that edit cells and files."""
