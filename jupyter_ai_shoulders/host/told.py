"""Says which of the user's files models are told of, and what is wrong in them.

Called by ``server.instructions``; the files are read by ``host.standing``.
"""

from __future__ import annotations

from collections.abc import Iterator

from jupyter_ai_shoulders.engine.instructions import INSTRUCTIONS_FILE, read_instructions
from jupyter_ai_shoulders.engine.surroundings import SourceText, Standing
from jupyter_ai_shoulders.wire.instructions import InstructionFile, InstructionList


def told(standing: Standing) -> InstructionList:
    """Return the files in the order in which models are told of them."""
    return InstructionList(
        files=tuple(_files(standing)),
        skills=len(standing.skills),
        problems=standing.problems,
    )


def _files(standing: Standing) -> Iterator[InstructionFile]:
    if standing.system is not None:
        yield InstructionFile(
            path=standing.system.source,
            role="system",
            characters=len(standing.system.text),
            rules=0,
            problems=(),
        )
    yield from map(_instructions, standing.instructions)


def _instructions(found: SourceText) -> InstructionFile:
    read = read_instructions(found.text, found.source)
    return InstructionFile(
        path=found.source,
        role="instructions" if found.source == INSTRUCTIONS_FILE else "other",
        characters=len(found.text),
        rules=len(read.rules),
        problems=read.problems,
    )
