"""Browser tests: a real JupyterLab server and a real Chromium."""
