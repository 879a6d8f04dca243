"""The agent loop: a pure state machine, the driver that runs it, and the requests it sends."""
