"""The tools that list, search, read, write, move and delete files of the workspace."""
