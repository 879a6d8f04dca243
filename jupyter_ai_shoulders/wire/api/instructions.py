"""What of the user's own files is told to models in every conversation: ``GET instructions``."""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.api.folder_trust import TrustState
from jupyter_ai_shoulders.wire.base import WireModel

InstructionRole = Literal["instructions", "system", "other"]
"""``_instructions.md``, ``.shoulders/system.md``, or the first found of other assistants'."""


class InstructionFile(WireModel):
    """A file of instructions that is there, as it is read now."""

    path: str
    """In the workspace; ``.shoulders/…`` means the state directory, wherever it is."""
    role: InstructionRole
    characters: int
    """Of the file's text, before comments are taken out and what is too long is cut."""
    rules: int
    """Rules in it that apply to some documents or languages only."""
    state: TrustState
    """``trusted`` files are instructions, ``declined`` ones are left out, others enter as data."""
    problems: tuple[str, ...]
    """What is not used of it, with lines, in words for the user."""


class InstructionList(WireModel):
    """``GET instructions``, in the order in which models are told."""

    files: tuple[InstructionFile, ...]
    skills: int
    """Skills whose names models are told; ``GET skills`` lists them."""
    problems: tuple[str, ...]
    """What could not be read."""
