"""Text files of the workspace: reading, changing, moving and taking back (chapter 07).

The guard opens files; this package knows what their text means, where a file lives at the moment
(disk, or a page with unsaved text), and writes down every change before it is made.
"""
