"""The web services that tools use: their settings, keys and permission."""
