"""Repositories for tests, made with git and without the machine's settings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git(directory: Path, *arguments: str) -> str:
    """Run git with a fixed author; return its output."""
    who = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(
        ["git", *who, *arguments],
        cwd=directory,
        env=env,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def make_repository(place: Path, **files: str) -> Path:
    """Make a repository with an author and one commit of these files (``_`` before py is a dot)."""
    place.mkdir(parents=True, exist_ok=True)
    git(place, "init", "-q", "-b", "main")
    git(place, "config", "user.name", "T")
    git(place, "config", "user.email", "t@example.com")
    for name, text in (files or {"a_py": "one\ntwo\n"}).items():
        (place / name.replace("_", ".")).write_text(text)
    git(place, "add", ".")
    git(place, "commit", "-qm", "Begin")
    return place


def program(path: Path, marker: Path, more: str = "cat") -> Path:
    """Make a program that leaves a marker file when it runs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "$0" >> {marker}\n{more}\n')
    path.chmod(0o755)
    return path
