"""Changes of watched files: comparison, settling, attribution and the prompt. Pure."""
