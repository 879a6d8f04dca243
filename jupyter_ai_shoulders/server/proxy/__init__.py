"""The model proxy over HTTP: thin handlers around the package ``proxy``."""
