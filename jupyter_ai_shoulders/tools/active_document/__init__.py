"""The tools on the document in front of the user: a text file or a notebook."""
