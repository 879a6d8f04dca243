"""The server extension: HTTP, the page socket, and adapters to Jupyter Server."""
