"""The chat panel in a notebook's output: its page talks to the kernel, the kernel to the server."""
