"""Back ends of notebooks: on disk, open in a browser page, or in a collaboration room."""
