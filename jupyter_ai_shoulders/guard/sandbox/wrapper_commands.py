"""Renders a policy as arguments of bubblewrap or as a profile of Seatbelt.

Used by ``guard.sandbox.sandbox``.
"""

from __future__ import annotations

from pathlib import Path

from jupyter_ai_shoulders.guard.sandbox.sandbox_policy import SandboxPolicy


def bubblewrap_arguments(policy: SandboxPolicy, folder: Path, program: str) -> list[str]:
    """Return the words before a command's own (bwrap(1)); only the listed paths exist inside."""
    words = [program, "--unshare-all", "--die-with-parent", "--new-session", "--dev", "/dev"]
    words += ["--proc", "/proc", "--tmpfs", "/tmp"]  # noqa: S108 a private one
    words += ["--share-net"] if policy.network else []
    for path in policy.read:
        if path not in {"/proc", "/sys"} and not path.startswith("/dev/"):
            words += ["--ro-bind-try", path, path]
    for path in policy.write:
        words += ["--bind-try", path, path]
    for path in policy.unmovable:
        words += ["--bind-try", path, path]
    for path in policy.frozen:
        words += ["--ro-bind-try", path, path]
    for path, cover in policy.hidden.items():
        words += ["--ro-bind", cover, path]
    for path in policy.readable_exceptions:
        words += ["--ro-bind-try", path, path]
    return [*words, "--chdir", str(folder), "--"]


def seatbelt_profile(policy: SandboxPolicy) -> str:
    """Return a profile for ``sandbox-exec``; later rules win (sandbox(7))."""
    lines = [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        '(deny file-read* (subpath "/Users"))',
        '(deny file-read* (subpath "/Volumes"))',
    ]
    lines += [f"(allow file-read* (subpath {_quoted(path)}))" for path in policy.read]
    for path in policy.write:
        lines.append(f"(allow file-read* file-write* (subpath {_quoted(path)}))")
    lines.append('(allow file-write* (literal "/dev/null") (literal "/dev/zero"))')
    lines += [f"(deny file-write* (literal {_quoted(path)}))" for path in policy.unmovable]
    lines += [f"(deny file-write* (subpath {_quoted(path)}))" for path in policy.frozen]
    for path in policy.hidden:
        lines.append(f"(deny file-read* file-write* (subpath {_quoted(path)}))")
    lines += [
        f"(allow file-read* (subpath {_quoted(path)}))" for path in policy.readable_exceptions
    ]
    if not policy.network:
        lines.append("(deny network*)")
    for port in policy.closed_ports:
        lines.append(f'(deny network-outbound (remote tcp "*:{port}"))')
    return "\n".join(lines)


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
