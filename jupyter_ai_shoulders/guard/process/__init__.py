"""Starts commands and workers, with filters of ports and system calls."""
