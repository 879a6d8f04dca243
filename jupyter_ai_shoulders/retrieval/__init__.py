"""Search by words and by meaning over the workspace; imported on first use."""
