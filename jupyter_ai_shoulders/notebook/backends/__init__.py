"""The places a notebook can be in: on disk, open in a browser page, or in a collaboration room."""
