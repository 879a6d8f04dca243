"""Installs the lowest and the newest allowed versions and does the main job with each."""
