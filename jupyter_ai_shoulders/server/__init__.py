"""The server extension: HTTP, the page socket, and nothing that another surface would need."""
