"""What inline completion may send of a notebook.

Its cells, its variables and the text at the caret.
"""
