"""Compiles seccomp filters for sandboxed commands from the table of system calls.

A filter allows the calls in the table; all others fail. Layouts and codes are those of
include/uapi/linux/{seccomp,filter,bpf_common,audit}.h. Used by ``guard.sandbox.sandbox_policy`` and
``guard.process.spawner_pool``, which pass filters to ``guard.spawner``.
"""

from __future__ import annotations

import errno
import functools
import itertools
import os
import struct
from base64 import b64encode
from collections.abc import Iterator, Sequence

from jupyter_ai_shoulders.guard.process.syscall_table import (
    ArgumentTest,
    Condition,
    Machine,
    SystemCall,
    system_call_table,
)

Instruction = tuple[int, int, int, int]
"""Code, instructions to skip if true and if false, value."""

LONGEST = 4096
"""Maximum number of instructions of the kernel (BPF_MAXINSNS)."""
_LOAD, _AND, _JUMP, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x05, 0x15, 0x35, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_AT_NUMBER, _AT_ARCHITECTURE, _AT_ARGUMENTS = 0, 4, 16
_FARTHEST = 255
_ARCHITECTURES: dict[Machine, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


@functools.cache
def encoded_filter(*, network: bool, namespaces: bool) -> str:
    """Return the filter for this processor in Base64; empty if the table does not cover it.

    ``namespaces``: whether the command has its own mount and IPC namespaces.
    """
    machine = os.uname().machine
    if machine not in _ARCHITECTURES:
        return ""
    program = instructions(machine, network=network, namespaces=namespaces)
    return b64encode(b"".join(struct.pack("=HBBI", *one) for one in program)).decode()


@functools.cache
def instructions(machine: Machine, *, network: bool, namespaces: bool) -> Sequence[Instruction]:
    """Return the filter as instructions."""
    by_number = {
        number: _outcome(call, network=network, namespaces=namespaces)
        for call in system_call_table().calls.values()
        if (number := call.number(machine)) is not None
    }
    return (
        (_LOAD, 0, 0, _AT_ARCHITECTURE),
        (_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL),  # 32-bit programs use other numbers
        (_LOAD, 0, 0, _AT_NUMBER),
        *_search(list(_runs(by_number))),
    )


def _outcome(call: SystemCall, *, network: bool, namespaces: bool) -> tuple[Instruction, ...]:
    """Return the instructions that decide a call once its number is known."""
    refused = _refused(call.errno or "EPERM")
    only = call.only
    match call.decision:
        case "refuse":
            return (refused,)
        case "network" if not network:
            return (refused,)
        case "own_namespaces" if not namespaces:
            return (refused,)
        case "arguments" if not namespaces:
            only = call.only_without_namespaces or only
        case _:
            pass
    allowed = (_RETURN, 0, 0, _ALLOW)
    return (
        (allowed,) if only is None else (*_condition(system_call_table().conditions[only]), refused)
    )


def _refused(name: str) -> Instruction:
    """Return the instruction that makes a call fail; with 0 it succeeds without effect."""
    number = 0 if name == "0" else getattr(errno, name)
    return (_RETURN, 0, 0, _ERROR | number)


def _condition(condition: Condition) -> Iterator[Instruction]:
    """Allow if any alternative holds; else continue with the next instruction."""
    for tests in condition.any:
        program: list[Instruction] = [(_RETURN, 0, 0, _ALLOW)]
        for test in reversed(tests):
            program = [*_test(test, len(program)), *program]
        yield from program


def _test(test: ArgumentTest, rest: int) -> list[Instruction]:
    """Skip the ``rest`` of the alternative if the test fails."""
    program: list[Instruction] = []
    for value in reversed(test.equals):
        program.insert(0, (_EQUAL, len(program), 0 if program else rest, value))
    for value in reversed(test.differs_from):
        program.insert(0, (_EQUAL, len(program) + rest, 0, value))
    load = (_LOAD, 0, 0, _AT_ARGUMENTS + 8 * test.argument)
    masked = () if test.mask is None else ((_AND, 0, 0, test.mask),)
    return [load, *masked, *program]


def _runs(
    by_number: dict[int, tuple[Instruction, ...]],
) -> Iterator[tuple[int, tuple[Instruction, ...]]]:
    """Yield the first call number of each run with the same outcome; unlisted numbers fail."""
    unknown = (_refused("ENOSYS"),)
    numbers = range(max(by_number) + 2)
    for outcome, run in itertools.groupby(numbers, lambda number: by_number.get(number, unknown)):
        yield next(run), outcome


def _search(runs: Sequence[tuple[int, tuple[Instruction, ...]]]) -> list[Instruction]:
    """Find the run of a call number by binary search."""
    if len(runs) == 1:
        return list(runs[0][1])
    half = len(runs) // 2
    below, above = _search(runs[:half]), _search(runs[half:])
    first = runs[half][0]
    if len(below) <= _FARTHEST:
        return [(_AT_LEAST, len(below), 0, first), *below, *above]
    return [(_AT_LEAST, 0, 1, first), (_JUMP, 0, 0, len(below)), *below, *above]
