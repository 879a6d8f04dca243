"""Pure rules without I/O, and the ports for time and identity."""
