"""Memory: statements in Markdown files, which ones are alike, and which enter a request. Pure."""
