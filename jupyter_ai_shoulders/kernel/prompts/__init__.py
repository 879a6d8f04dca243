"""Texts the magics send and show; data, read by ``kernel.prompt_text``."""
