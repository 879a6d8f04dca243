"""The tables of schedules and their runs."""
