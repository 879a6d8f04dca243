"""HTTP handlers of settings, models, tools, usage, workspace trust and server status."""
