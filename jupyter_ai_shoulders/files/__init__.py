"""Text files of the workspace: reading, changing, moving and undo.

The guard opens files; this package decodes their text, finds where a file is open (disk, or a page
with unsaved text), and records every change before it is made.
"""
