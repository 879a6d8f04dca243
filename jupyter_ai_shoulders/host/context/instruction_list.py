"""Lists the instruction files that enter requests, and their problems.

Called by ``server.handlers.message_context``; ``host.context.instruction_cache`` reads the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jupyter_ai_shoulders.engine.environment.instructions import (
    INSTRUCTIONS_FILE,
    SYSTEM_FILE,
    read_instructions,
)
from jupyter_ai_shoulders.engine.environment.snapshot import InstructionSet, SourceText
from jupyter_ai_shoulders.wire.api.folder_trust import TrustState
from jupyter_ai_shoulders.wire.api.instructions import (
    InstructionFile,
    InstructionList,
    InstructionRole,
)

_ROLES: Mapping[str, InstructionRole] = {INSTRUCTIONS_FILE: "instructions", SYSTEM_FILE: "system"}


def list_instructions(standing: InstructionSet) -> InstructionList:
    """Return the files in the order in which requests contain them."""
    return InstructionList(
        files=tuple(_files(standing)),
        skills=len(standing.skills),
        problems=standing.problems,
    )


def _files(standing: InstructionSet) -> Iterator[InstructionFile]:
    if standing.system is not None:
        yield InstructionFile(
            path=standing.system.source,
            role="system",
            characters=len(standing.system.text),
            rules=0,
            state="trusted",
            problems=(),
        )
    yield from (_instructions(found, "trusted") for found in standing.instructions)
    yield from (_instructions(found, "new") for found in standing.unreviewed)


def _instructions(found: SourceText, state: TrustState) -> InstructionFile:
    read = read_instructions(found.text, found.source)
    return InstructionFile(
        path=found.source,
        role=_ROLES.get(found.source, "other"),
        characters=len(found.text),
        rules=len(read.rules),
        state=state,
        problems=read.problems,
    )
