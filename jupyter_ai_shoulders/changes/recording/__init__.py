"""Records what agents change: checkpoints, cell operations and the change history."""
