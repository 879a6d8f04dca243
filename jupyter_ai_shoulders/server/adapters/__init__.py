"""Connects Jupyter Server's contents manager, rooms, activity and log to the host."""
