"""What sandboxed commands may reach, and the quarantine of files they make that would run later."""
