"""The HTTP API, the page socket and what stands between them and the host."""
