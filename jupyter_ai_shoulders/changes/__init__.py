"""Changes that agents make to notebooks and files: proposals, recording, review and restore."""
