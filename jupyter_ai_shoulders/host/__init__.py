"""The composition root: wires adapters to ports for any surface."""
