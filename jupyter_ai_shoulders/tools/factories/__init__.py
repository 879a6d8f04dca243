"""Functions that build the tools of one topic; called by ``host``."""
