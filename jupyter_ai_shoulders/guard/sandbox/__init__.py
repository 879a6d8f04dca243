"""The sandbox of commands, and the quarantine of new files that would run later."""
