"""The table of system calls, the filters compiled from it, and their effect in the kernel."""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest

from jupyter_ai_shoulders.guard.process.syscall_filter import LONGEST, instructions
from jupyter_ai_shoulders.guard.process.syscall_table import Machine, SystemCall, system_call_table
from jupyter_ai_shoulders.guard.sandbox.capabilities import SandboxCapabilities
from tests.guard.sandbox.escape_harness import Case, machine_facts, numbers, tried

MACHINES: tuple[Machine, ...] = get_args(Machine)
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
ENOSYS = ERROR | errno.ENOSYS
EPERM, EACCES = ERROR | errno.EPERM, ERROR | errno.EACCES
HEADERS = (
    "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "/usr/include/asm/unistd_64.h",
    "/usr/include/aarch64-linux-gnu/asm/unistd_64.h",
)
GENERIC = Path("/usr/include/asm-generic/unistd.h")
ONLY_32_BIT = range(403, 424)
OF_ARCHITECTURES = range(244, 260)


def decided(
    machine: Machine,
    number: int,
    arguments: Sequence[int] = (),
    *,
    network: bool = False,
    namespaces: bool = True,
    audit: int | None = None,
) -> int:
    """Run a filter as the kernel does (bpf(4)); return its value."""
    program = instructions(machine, network=network, namespaces=namespaces)
    words = [number, AUDIT[machine] if audit is None else audit, 0, 0]
    for argument in [*arguments, *[0] * (6 - len(arguments))]:
        words += [argument & 0xFFFFFFFF, argument >> 32 & 0xFFFFFFFF]
    at, held = 0, 0
    while True:
        code, if_true, if_false, value = program[at]
        at += 1
        match code:
            case 0x20:
                held = words[value // 4]
            case 0x54:
                held &= value
            case 0x05:
                at += value
            case 0x15:
                at += if_true if held == value else if_false
            case 0x35:
                at += if_true if held >= value else if_false
            case _:
                assert code == 0x06
                return value


@pytest.mark.parametrize("namespaces", [False, True])
@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("machine", MACHINES)
def test_a_filter_is_one_that_the_kernel_takes(
    machine: Machine, network: bool, namespaces: bool
) -> None:
    """It jumps only forward and within, ends with a return, and is short."""
    program = instructions(machine, network=network, namespaces=namespaces)

    assert len(program) < LONGEST // 8
    assert program[-1][0] == 0x06
    for position, (code, if_true, if_false, value) in enumerate(program):
        farthest = value if code == 0x05 else max(if_true, if_false)
        assert 0 <= min(if_true, if_false) <= max(if_true, if_false) < 256
        assert position + 1 + farthest < len(program) or code == 0x06


@pytest.mark.parametrize("namespaces", [False, True])
@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_does_with_each_call_what_the_table_says(
    machine: Machine, network: bool, namespaces: bool
) -> None:
    by_number = {call.number(machine): call for call in system_call_table().calls.values()}

    for number in [*range(601), 0x40000000, 0x40000001, 0xFFFFFFFF]:
        call = by_number.get(number)
        found = decided(machine, number, network=network, namespaces=namespaces)
        if call is None:
            assert found == ENOSYS, number
        elif is_open(call, network=network, namespaces=namespaces):
            assert found == ALLOW, number
        elif is_closed(call, network=network, namespaces=namespaces):
            assert found == refusal(call), number
        else:
            assert found in {ALLOW, refusal(call)}, number


def is_open(call: SystemCall, *, network: bool, namespaces: bool) -> bool:
    """Return whether a call works with all arguments."""
    free = call.only is None
    return (
        call.decision == "allow"
        or (call.decision == "own_namespaces" and free and namespaces)
        or (call.decision == "network" and free and network)
    )


def is_closed(call: SystemCall, *, network: bool, namespaces: bool) -> bool:
    """Return whether a call never works."""
    return (
        call.decision == "refuse"
        or (call.decision == "own_namespaces" and not namespaces)
        or (call.decision == "network" and not network)
    )


def refusal(call: SystemCall) -> int:
    name = call.errno or "EPERM"
    return ERROR | (0 if name == "0" else getattr(errno, name))


ARGUMENTS: dict[str, tuple[str, tuple[int, ...], bool]] = {
    "own limit": ("prlimit64", (0, 0, 1), True),
    "limit of another": ("prlimit64", (7, 0, 1), False),
    "own priority": ("setpriority", (0, 0, 5), True),
    "priority of a process": ("setpriority", (0, 7, 5), False),
    "priority of a user": ("setpriority", (2, 0, 5), False),
    "own disk priority": ("ioprio_set", (1, 0, 5), True),
    "disk priority of a group": ("ioprio_set", (2, 0, 5), False),
    "fork": ("clone", (0x01200011, 0), True),
    "thread": ("clone", (0x3D0F00, 0), True),
    "fork with a user namespace": ("clone", (0x10000011, 0), False),
    "fork with a namespace, padded": ("clone", (0xF_00020011, 0), False),
    "mode": ("fchmod", (3, 0o755), True),
    "mode with set-group-ID": ("fchmod", (3, 0o2755), True),
    "mode with set-user-ID": ("fchmod", (3, 0o4755), False),
    "open with a mode": ("openat", (0, 0, 0o101, 0o644), True),
    "open with noise as mode": ("openat", (0, 0, 0, 0xFFFFFFFF), True),
    "make with set-user-ID": ("openat", (0, 0, 0o101, 0o4644), False),
    "nameless with set-user-ID": ("openat", (0, 0, 0o20000002, 0o4644), False),
    "flags of a descriptor": ("fcntl", (3, 1), True),
    "record lock": ("fcntl", (3, 6), True),
    "owner": ("fcntl", (3, 8, 7), False),
    "signal": ("fcntl", (3, 10, 9), False),
    "owner, extended": ("fcntl", (3, 15), False),
    "size of a terminal": ("ioctl", (0, 0x5413), True),
    "typing": ("ioctl", (0, 0x5412), False),
    "typing, padded": ("ioctl", (0, 0xF_00005412), False),
    "selection": ("ioctl", (0, 0x541C), False),
    "clone of a file": ("ioctl", (3, 0x40049409), True),
    "pair": ("socketpair", (1, 0o2000001, 0), True),
    "pair of datagrams": ("socketpair", (1, 2, 0), False),
    "personality, read": ("personality", (0xFFFFFFFF,), True),
    "personality": ("personality", (0x0400000,), False),
    "send": ("sendto", (3, 0, 1, 0x4000), True),
    "fast open": ("sendto", (3, 0, 1, 0x20000000), False),
    "fast open message": ("sendmsg", (3, 0, 0x20004000), False),
    "fast open messages": ("sendmmsg", (3, 0, 1, 0x20000000), False),
    "no delay": ("setsockopt", (3, 6, 1), True),
    "other option 31": ("setsockopt", (3, 1, 31), True),
    "upper layer": ("setsockopt", (3, 6, 31), False),
}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("name", "given", "works"), ARGUMENTS.values(), ids=list(ARGUMENTS))
def test_arguments_decide(machine: Machine, name: str, given: tuple[int, ...], works: bool) -> None:
    call = system_call_table().calls[name]
    number = call.number(machine)
    assert number is not None

    found = decided(machine, number, given)

    assert found == (ALLOW if works else refusal(call))


SOCKETS: dict[str, tuple[tuple[int, int, int], bool]] = {
    "tcp": ((2, 1, 0), True),
    "tcp, cloexec": ((2, 0o2000001, 6), True),
    "udp 6": ((10, 2, 17), True),
    "ping": ((2, 2, 1), True),
    "routes": ((16, 3, 0), True),
    "audit": ((16, 3, 9), False),
    "unix": ((1, 1, 0), False),
    "multipath": ((2, 1, 262), False),
    "smc": ((2, 1, 256), False),
    "raw": ((2, 3, 1), False),
    "packet": ((17, 3, 0), False),
}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("given", "works"), SOCKETS.values(), ids=list(SOCKETS))
def test_sockets_need_the_network(
    machine: Machine, given: tuple[int, int, int], works: bool
) -> None:
    number = system_call_table().calls["socket"].number(machine)
    assert number is not None

    assert decided(machine, number, given, network=True) == (ALLOW if works else EACCES)
    assert decided(machine, number, given) == EACCES


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("request_number", "works"),
    [
        (0x80086601, True),
        (0x40086602, False),
        (0x401C5820, False),
        (0x5000940F, False),
        (0x5413, True),
        (0x5412, False),
        (0x40047211, False),
    ],
    ids=["read", "chattr", "extended", "delete subvolume", "terminal", "typing", "fat"],
)
def test_without_mounts_no_file_system_takes_requests(
    machine: Machine, request_number: int, works: bool
) -> None:
    number = system_call_table().calls["ioctl"].number(machine)
    assert number is not None

    found = decided(machine, number, (3, request_number), namespaces=False)

    assert found == (ALLOW if works else EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_programs_of_other_architectures_are_ended(machine: Machine) -> None:
    assert decided(machine, 0, audit=0x40000003) == KILL


def test_the_table_is_whole() -> None:
    """Numbers are consecutive; the table states the conditions of each call."""
    found = system_call_table()
    x86 = {call.x86_64 for call in found.calls.values()} - {None}
    generic = {call.aarch64 for call in found.calls.values()} - {None}
    unused = {*range(295, 424), *OF_ARCHITECTURES}

    assert x86 == {*range(337), *range(424, 470)}
    assert generic == set(range(470)) - unused
    assert {call.decision for call in found.calls.values()} == set(found.decisions)
    for name, call in found.calls.items():
        assert call.x86_64 is not None or call.aarch64 is not None, name
        assert {call.only, call.only_without_namespaces} <= {None, *found.conditions}, name
        assert call.reason
        assert (call.only is None) or call.decision not in {"allow", "refuse"}, name


def test_the_table_holds_every_call_of_the_installed_headers() -> None:
    """Without headers, the numbers are those listed in the test above."""
    calls = system_call_table().calls
    for header in filter(Path.exists, map(Path, HEADERS)):
        machine = "aarch64" if "aarch64" in header.parts[3] else "x86_64"
        for name, number in defined(header.read_text("ascii")).items():
            assert calls[name].number(machine) == number, name
    if GENERIC.exists():
        known = {call.aarch64: name for name, call in calls.items()}
        for name, number in defined(GENERIC.read_text("ascii")).items():
            if number in ONLY_32_BIT or number in OF_ARCHITECTURES or name == "syscalls":
                continue
            assert number in known, name


def defined(header: str) -> dict[str, int]:
    return {
        name: int(number)
        for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\s", header)
    }


@pytest.fixture(scope="session")
def facts() -> SandboxCapabilities:
    return machine_facts()


@pytest.mark.parametrize("cover", [True, False], ids=["own mounts", "shared mounts"])
@pytest.mark.parametrize("ordinary", [False, True], ids=["this user", "ordinary user"])
def test_the_kernel_refuses_each_refused_and_each_unknown_call(
    facts: SandboxCapabilities, ordinary: bool, cover: bool
) -> None:
    if facts.kind != "landlock" or (cover and not facts.covers):
        assert not (facts.kind == "landlock" and facts.covers)
        return
    calls = {number: system_call_table().calls[name] for name, number in numbers().items()}
    closed = {
        number: refusal(call) & 0xFFFF
        for number, call in calls.items()
        if is_closed(call, network=False, namespaces=cover)
    }
    wanted = {**dict.fromkeys(set(range(601)) - calls.keys(), errno.ENOSYS), **closed}

    found = tried(Case(ordinary, cover), facts, unknown=sorted(wanted))

    if found.confined != "yes":
        assert (ordinary, cover) == (True, True)
        return
    assert found.reached == {}
    assert {int(one): int(text.split()[0]) for one, text in found.refused.items()} == wanted
