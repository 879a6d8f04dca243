"""Vector stores: the engine in process and a Qdrant server; imported on first use."""
