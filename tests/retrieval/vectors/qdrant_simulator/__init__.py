"""A strict Qdrant server for tests, limited to the routes that the client uses."""
