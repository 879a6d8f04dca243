"""The chat panel in a notebook's output: its page uses the kernel, the kernel the server."""
