"""What tools need of the host.

Command execution, packages with tools, and visibility of operations.
"""
