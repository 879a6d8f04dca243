"""HTTP handlers of conversations: their messages, turns, events, exports, runs and threads."""
