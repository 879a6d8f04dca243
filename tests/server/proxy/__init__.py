"""The model proxy over HTTP."""
