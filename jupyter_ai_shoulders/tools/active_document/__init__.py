"""The tools on the active document, a text file or a notebook."""
