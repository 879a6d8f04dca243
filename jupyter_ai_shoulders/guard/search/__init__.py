"""Bounded listings and searches of the workspace: globs, ignore rules, ripgrep."""
