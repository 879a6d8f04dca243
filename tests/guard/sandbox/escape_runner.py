"""Starts a server, confines itself like a command, and tries to reach the server.

``tests.guard.sandbox.escape_harness`` runs it as ``python -I -S``, because the user may not be able
to read the tests' files. It reads one request of JSON and answers with one.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.guard.spawner.confinement import AccessPolicy, confine
from tests.guard.sandbox import escape_attempts, escape_sockets
from tests.guard.sandbox.escape_attempts import Attempt
from tests.guard.sandbox.escape_target import LIBC, Calls, Places, Server, Target

_CAPABILITIES_OF_ROOT = {0, 1, 3, 4, 6, 7}
_SETTLED = b"."


def main() -> None:
    """Answer the request."""
    request: dict[str, Any] = json.load(sys.stdin)
    "".encode("idna")  # for host names: the module cannot be loaded later
    call = Calls(request["numbers"])
    places = Places(**request["places"])
    if os.getuid() == 0 and request["user"]:
        os.setgroups([])
        os.setgid(request["user"])
        os.setuid(request["user"])
        LIBC.prctl(ctypes.c_int(4), ctypes.c_ulong(1), 0, 0, 0)  # PR_SET_DUMPABLE, as after exec
    told, tell = os.pipe()
    wait, release = os.pipe()
    if os.fork() == 0:
        os.close(release)
        _serve(places, call, tell, wait)
    server: dict[str, Any] = json.loads(os.read(told, 4096))
    target = Target(places=places, call=call, **server)
    before = _state(target, request["unchanged"])
    policy = AccessPolicy.from_json({**request["policy"], "closed_ports": [target.port]})
    found = _in_child(lambda: _tried(policy, target, request))
    after = _state(target, request["unchanged"])
    os.write(release, _SETTLED)
    os.wait()
    changed = [str(one) for one in after if one not in before]
    sys.stdout.write(json.dumps({**found, "changed": changed}))


def _serve(places: Places, call: Calls, tell: int, wait: int) -> None:
    """Run as the server until the attempts are over; never returns."""
    os.setsid()
    os.umask(0)
    server = Server.start(places, call)
    try:
        one = server.target
        fields = ("server", "key", "memory", "port", "open_port", "terminal", "name")
        os.write(tell, json.dumps({name: getattr(one, name) for name in fields}).encode())
        os.read(wait, 1)
    finally:
        server.close()
        os._exit(0)


def _state(target: Target, folders: Sequence[str]) -> list[object]:
    """Return the state that an escape would change."""
    pid = target.server
    found = [one for path in map(Path, folders) for one in (path, *path.rglob("*"))]
    seen = [(str(one), *_seen(one)) for one in sorted(found)]
    limits = [resource.prlimit(pid, kind) for kind in range(16)]
    running = (os.getpriority(os.PRIO_PROCESS, pid), os.sched_getscheduler(pid), limits)
    return [*seen, running, sorted(os.sched_getaffinity(pid)), Path(f"/proc/{pid}/stat").exists()]


def _seen(path: Path) -> tuple[object, ...]:
    status = path.lstat()
    attributes = os.listxattr(path, follow_symlinks=False)
    return (status.st_mode, status.st_uid, status.st_mtime_ns, status.st_nlink, *attributes)


def _in_child(work: Callable[[], Mapping[str, object]]) -> dict[str, Any]:
    """Return the result of a forked process, which may give up rights we still need."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.close(read)
        with os.fdopen(write, "w") as pipe:
            json.dump(work(), pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.wait()
    return json.loads(text or '{"error": "it ended without an answer"}')


def _tried(
    policy: AccessPolicy, target: Target, request: Mapping[str, Any]
) -> Mapping[str, object]:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        confine(policy)
    except OSError as error:
        return {"confined": str(error)}
    os.chdir(target.places.workspace)
    _as_after_exec(target)
    reached: dict[str, str] = {}
    refused: dict[str, str] = {}
    for name in request["groups"]:
        for attempt, one in _group(name, target).items():
            _try(f"{name}: {attempt}", one, target, reached, refused)
    for number in request["unknown"]:
        _try(f"{number}", lambda _, number=number: _by_number(number), target, reached, refused)
    return {"confined": "yes", "reached": reached, "refused": refused}


def _group(name: str, target: Target) -> Mapping[str, Attempt]:
    match name:
        case "metadata outside":
            return escape_attempts.metadata(target, target.old)
        case "metadata of a folder":
            return escape_attempts.metadata(target, f"{target.places.home}/.ssh")
        case "workspace":
            return escape_attempts.changes(target, f"{target.places.workspace}/inside")
        case "metadata of what is read":
            return escape_attempts.metadata(target, target.tool)
        case "daemons" | "closed_port" | "internet":
            return getattr(escape_sockets, name)(target)
        case _:
            return getattr(escape_attempts, name)(target)


def _try(
    name: str, one: Attempt, target: Target, reached: dict[str, str], refused: dict[str, str]
) -> None:
    try:
        reached[name] = repr(one(target))[:100]
    except OSError as error:
        refused[name] = f"{error.errno} {error}"


def _by_number(number: int) -> int:
    """Make a call with arguments that no call accepts."""
    return Calls({"": number})("", *[-1] * 6)


def _as_after_exec(target: Target) -> None:
    """Keep the capabilities that a new program would have (capset(2), version 3)."""
    kept = 0
    if os.getuid() == 0 and not _in_user_namespace():
        kept = sum(1 << number for number in _CAPABILITIES_OF_ROOT)
    header = struct.pack("Ii", 0x20080522, 0)
    low, high = kept & 0xFFFFFFFF, kept >> 32
    target.call("capset", header, struct.pack("IIIIII", low, low, 0, high, high, 0))


def _in_user_namespace() -> bool:
    return "4294967295" not in Path("/proc/self/uid_map").read_text("ascii")


if __name__ == "__main__":
    signal.alarm(60)
    main()
