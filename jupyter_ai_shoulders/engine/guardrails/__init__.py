"""Guards against models that repeat themselves or stall, and marks for untrusted text."""
