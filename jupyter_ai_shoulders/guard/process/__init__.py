"""Starts commands and workers.

Launcher, environment, process groups, and filters of ports and system calls.
"""
