"""Code shared by wire formats: reasoning effort, token counts, fill-in-the-middle, placeholders."""
