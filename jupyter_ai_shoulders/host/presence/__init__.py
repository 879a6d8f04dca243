"""Records when users had a page connected, and reports what happened while they were away."""
