"""The HTTP API, the page socket, and the adapters to Jupyter Server."""
