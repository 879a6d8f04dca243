"""What several wire formats share: effort words, token counts, fill-in-the-middle, placeholders."""
