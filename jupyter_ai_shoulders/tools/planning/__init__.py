"""The tool that runs several reading calls as one plan."""
