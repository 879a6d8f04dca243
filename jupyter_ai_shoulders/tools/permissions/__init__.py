"""Permission rules, grants and taint: whether a call runs, asks or is refused."""
