"""Tables of the state database: migrations, event rows, and session rows derived from events."""
