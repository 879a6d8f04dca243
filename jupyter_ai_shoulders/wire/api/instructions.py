"""Instruction files that models get in every conversation: ``GET instructions``."""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.api.folder_trust import TrustState
from jupyter_ai_shoulders.wire.base import WireModel

InstructionRole = Literal["instructions", "system", "other"]
"""``_instructions.md``, ``.shoulders/system.md``, or the first found file of another assistant."""


class InstructionFile(WireModel):
    """An existing instruction file in its current state."""

    path: str
    """Path in the workspace; ``.shoulders/…`` stands for the state directory."""
    role: InstructionRole
    characters: int
    """Length of the file, before comments are removed and long text is truncated."""
    rules: int
    """Number of rules that apply to some documents or languages only."""
    state: TrustState
    """``trusted`` files are instructions, ``declined`` ones are left out, others are data."""
    problems: tuple[str, ...]
    """Unused parts, with lines, in words for the user."""


class InstructionList(WireModel):
    """``GET instructions``, in the order of the prompt."""

    files: tuple[InstructionFile, ...]
    skills: int
    """Number of skills named to models; ``GET skills`` lists them."""
    problems: tuple[str, ...]
    """Files that could not be read."""
