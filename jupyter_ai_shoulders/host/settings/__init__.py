"""The user's preferences, the parser of settings files, and trust in settings of the workspace."""
