"""The tool that runs a shell command, with its output buffer and its checks of new files."""
