"""Takes back what agents did: checkpoints before changes, a record of deeds, restores."""
