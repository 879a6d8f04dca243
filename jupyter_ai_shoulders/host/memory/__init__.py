"""The memory across conversations: the two files, their changes and their undo."""
