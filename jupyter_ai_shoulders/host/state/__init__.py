"""State of one process: the state directory, the bus of committed events, and foreign sessions."""
