"""The only modules that open workspace files, reach the network for tools or start processes."""
