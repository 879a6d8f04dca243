"""When users had a page connected, and the report of what happened while they were away."""
