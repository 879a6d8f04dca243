"""Task threads.

Opening them, their anchors in documents, import from documents, and run results.
"""
