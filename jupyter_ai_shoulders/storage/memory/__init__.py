"""The files of the memory, and which of the workspace's statements the user wrote."""
