"""What one process keeps: the state directory, the bus of committed events, and their redaction."""
