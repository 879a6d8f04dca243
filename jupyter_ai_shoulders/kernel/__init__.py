"""The kernel side: magics that talk to the AI colleague through the client. IPython loads it."""
