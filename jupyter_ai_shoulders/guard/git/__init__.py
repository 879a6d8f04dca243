"""Git for the workspace, run so that a hostile repository cannot run programs."""
